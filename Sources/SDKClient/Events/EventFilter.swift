public import SDKProtocol

/// Which events a subscription is about; what is `nil` does not matter.
public struct EventFilter: Sendable, Hashable {
  /// Only these instances.
  public var instances: [InstanceID]?
  /// Only instances with all of these labels.
  public var labels: [String: String]?
  /// Only these types.
  public var types: [EventType]?

  /// A filter; without anything given it lets all events of visible instances through.
  public init(instances: [InstanceID]? = nil, labels: [String: String]? = nil, types: [EventType]? = nil) {
    self.instances = instances
    self.labels = labels
    self.types = types
  }
}
