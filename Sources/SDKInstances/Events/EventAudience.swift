import JSONRPC
public import SDKProtocol
public import StateStore

/// The peers that may see an instance's events. Looked up once for each event, for all subscribers.
public struct EventAudience: Sendable {
  private let policy: AccessPolicy
  /// The roles on the instance; `nil` for an unknown instance, whose events only admins may see.
  private let roles: RoleTable?
  /// The instance's labels; empty for an unknown instance.
  let labels: [String: String]

  /// Creates the audience of a hosted instance.
  init(policy: AccessPolicy, roles: RoleTable, labels: [String: String]) {
    self.policy = policy
    self.roles = roles
    self.labels = labels
  }

  /// Creates the audience of an instance that is not hosted; `nil` for an unknown one.
  init(policy: AccessPolicy, access: InstanceAccess?) {
    self.policy = policy
    roles = access.map { RoleTable($0, names: policy.names) }
    labels = access?.labels ?? [:]
  }

  /// Whether a peer may see the events: it has a role on the instance or is an admin.
  func admits(_ peer: Peer) -> Bool {
    guard let roles else { return policy.isAdmin(peer) }
    return policy.role(of: peer, by: roles) != nil
  }
}

/// The source of the hub's access decisions: which peers may see which events.
public protocol EventDirectory: Sendable {
  /// Returns the peers that may see the events of an instance now. For a deleted instance, its access at the time of
  /// deletion counts.
  func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience
  /// Returns the instances whose events a peer may see now and a filter matches, deleted ones included; `nil` for all
  /// present and past instances.
  func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>?
}

/// A reader's selection of events.
public struct EventFilter: Sendable {
  /// Only these instances; `nil` for all.
  public var instances: Set<InstanceID>?
  /// Only instances with all of these labels.
  public var labels: [String: String]
  /// Only these types; `nil` for all.
  public var types: Set<EventType>?

  /// Creates a filter.
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
    return known().includes(labels)
  }
}
