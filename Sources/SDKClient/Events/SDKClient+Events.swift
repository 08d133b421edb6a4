extension SDKClient {
  /// Events as they happen.
  ///
  /// - Parameters:
  ///   - filter: which; without one those of all visible instances.
  ///   - since: a cursor; what came after it is delivered first. Without one it begins now.
  public func events(_ filter: EventFilter = EventFilter(), since: String? = nil) -> EventSequence {
    EventSequence(link: link, filter: filter, since: since)
  }
}
