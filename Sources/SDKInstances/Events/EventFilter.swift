public import SDKProtocol
import StateStore

/// A reader's selection of events.
public struct EventFilter: Sendable {
  /// Only these instances; `nil` for all.
  public var instances: Set<InstanceID>?
  /// Only instances with all of these labels.
  public var labels: [String: String]
  /// Only these types; `nil` for all.
  public var types: Set<EventType>?

  /// A filter.
  public init(instances: [InstanceID]? = nil, labels: [String: String]? = nil, types: [EventType]? = nil) {
    self.instances = instances.map(Set.init)
    self.labels = labels ?? [:]
    self.types = types.map(Set.init)
  }

  /// Whether the filter matches an event.
  func admits(_ event: StoredEvent, of audience: EventAudience) -> Bool {
    types?.contains(event.type) != false && admits(event.id, labels: audience.labels)
  }

  /// Whether the filter matches an instance with this id and these labels.
  func admits(_ id: InstanceID, labels known: @autoclosure () -> [String: String]) -> Bool {
    if let instances, !instances.contains(id) { return false }
    guard !labels.isEmpty else { return true }
    let known = known()
    return labels.allSatisfy { known[$0.key] == $0.value }
  }
}
