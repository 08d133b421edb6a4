public import SDKProtocol

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
