public import JSONRPC
public import SDKProtocol

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

/// A filter for the events of a subscription; a member that is `nil` matches everything.
public struct EventFilter: Sendable, Hashable {
  /// The instances to match.
  public var instances: [InstanceID]?
  /// The labels to match: an instance must have all of them.
  public var labels: [String: String]?
  /// The event types to match.
  public var types: [EventType]?

  /// Creates a filter; without arguments it matches all events of visible instances.
  public init(instances: [InstanceID]? = nil, labels: [String: String]? = nil, types: [EventType]? = nil) {
    self.instances = instances
    self.labels = labels
    self.types = types
  }
}

/// An item that a subscription delivers.
public enum SubscriptionItem: Sendable, Hashable {
  /// An event.
  case event(Event)
  /// An event of a type that this version does not know, as received.
  case unknown(JSON)
  /// A gap: events after the cursor `from` were missed. Read the state that you keep again before you take the next
  /// item; the subscription then continues from `resume`.
  case gap(from: String?, resume: String)
}
