public import SDKProtocol
import StateStore

/// Which events a reader wants.
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

  func matches(_ event: StoredEvent, labels known: [String: String]?) -> Bool {
    if let instances, !instances.contains(event.id) { return false }
    if let types, !types.contains(event.type) { return false }
    return labels.allSatisfy { known?[$0.key] == $0.value }
  }
}

/// A subscriber's place in the order of events.
struct Subscription {
  enum Phase {
    /// The reply has not gone out yet.
    case waiting
    /// Reading what came before.
    case replaying
    /// Told as it happens.
    case live
    /// After a gap, until `events.resume`.
    case paused
  }

  let name: String
  let link: any ClientLink
  let session: ObjectIdentifier
  let filter: EventFilter
  var phase = Phase.waiting
  /// The last position that was delivered or passed over.
  var position: UInt64?
  /// The cursor was of another state.
  var hasForeignCursor = false

  init(name: String, link: any ClientLink, session: ObjectIdentifier, filter: EventFilter) {
    self.name = name
    self.link = link
    self.session = session
    self.filter = filter
  }
}
