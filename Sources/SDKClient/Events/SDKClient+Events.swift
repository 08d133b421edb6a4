extension SDKClient {
  /// Returns the events as they happen.
  ///
  /// - Parameters:
  ///   - filter: the events to deliver; by default those of all visible instances.
  ///   - since: a cursor; events after it are delivered first. Without one the sequence starts with new events.
  public func events(_ filter: EventFilter = EventFilter(), since: String? = nil) -> EventSequence {
    EventSequence(link: link, filter: filter, since: since)
  }
}
