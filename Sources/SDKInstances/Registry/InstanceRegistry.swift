import Concurrency
import DelegateBridge
import JSONRPC
public import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// The registry of all instances by name, of the kinds that they may have, and of the rules for access.
///
/// It is made before the parts that look instances up, such as the delegates and the event hub. `InstanceHost`, which is
/// made after them, adds and removes the instances.
public final class InstanceRegistry: Sendable {
  /// The registry's entry for the name of an instance.
  enum Entry: Sendable {
    case hosted(HostedInstance)
    case quarantined(QuarantinedInstance)

    var id: InstanceID {
      switch self {
      case .hosted(let instance): instance.id
      case .quarantined(let instance): instance.id
      }
    }
  }

  /// The entries by name, and an index of the hosted ones by UUID.
  struct Table {
    private(set) var entries: [InstanceID: Entry] = [:]
    /// The names of all entries, sorted.
    private var names: [InstanceID] = []
    private var hosted: [String: HostedInstance] = [:]

    subscript(id: InstanceID) -> Entry? {
      get { entries[id] }
      set {
        let former = entries[id]
        entries[id] = newValue
        if case .hosted(let former)? = former {
          hosted[former.uuid.description] = nil
          former.actor.list(false)
        }
        if case .hosted(let instance)? = newValue {
          hosted[instance.uuid.description] = instance
          instance.actor.list(true)
        }
        switch (former, newValue) {
        case (nil, _?): names.insert(id, at: position(of: id))
        case (_?, nil): names.remove(at: position(of: id))
        default: break
        }
      }
    }

    subscript(uuid uuid: String) -> HostedInstance? { hosted[uuid] }

    /// The number of entries that are quarantined.
    var quarantinedCount: Int { entries.count - hosted.count }

    /// Returns the entries whose names come after `id`, sorted, at most `count` of them.
    func entries(after id: InstanceID?, atMost count: Int) -> [Entry] {
      var first = id.map(position(of:)) ?? 0
      if first < names.count, names[first] == id { first += 1 }
      return names[first...].prefix(count).compactMap { entries[$0] }
    }

    /// Returns the number of names that come before `id`.
    private func position(of id: InstanceID) -> Int {
      var range = 0..<names.count
      while let last = range.last {
        let middle = (range.lowerBound + last) / 2
        range = names[middle] < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }
  }

  let entries = Mutex(Table())
  /// The number of entries that were read for the lists of many, so that a test sees what a call takes.
  let looks = Atomic(0)
  let deleted = Mutex(DeletedInstances())
  /// Instances whose creation is being committed.
  typealias Arriving = [InstanceUUID: (id: InstanceID, access: InstanceAccess, number: Int)]

  /// The instances whose creation is being committed. They count towards the quota of their owner, and their first
  /// event can be read before they are entries.
  let arriving = Mutex<Arriving>([:])
  /// The number of creations since the start. Changed while `arriving` is locked.
  let creations = Atomic(0)
  /// The number of changes of rules, and of the numbers of the names in them.
  let accessChanges = Atomic(0)
  private let kindsByName: [KindName: any SDKKind]
  /// The settings of each kind that are shown to no caller, which lists need for each instance.
  private let secretSettings: [KindName: Set<String>]
  private let rules: Mutex<Rules>
  /// Returns the limits that hold now.
  let limits: @Sendable () -> InstanceLimits

  /// The daemon's rules: an object, because each call of an app reads them.
  private final class Rules: Sendable {
    let access: AccessPolicy

    init(_ access: AccessPolicy) { self.access = access }
  }

  /// The instances by state.
  let states = StateIndex()
  /// The instances by the ids in their access rules.
  let roles = RoleIndex()
  let logger: Logger
  /// Whether calls run: not before every instance is restored.
  public let availability = Availability()

  /// Creates a registry without instances. `InstanceHost` adds them.
  public init(
    kinds: [any SDKKind], access: AccessPolicy, logger: Logger,
    limits: @escaping @Sendable () -> InstanceLimits = { InstanceLimits() }
  ) {
    kindsByName = Dictionary(kinds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    secretSettings = kindsByName.mapValues(\.settings.secrets)
    rules = Mutex(Rules(access))
    self.logger = logger
    self.limits = limits
    access.names.observe { [weak self] in self?.namesChanged() }
    access.names.request(access.requiredNames, for: 0)
  }

  /// The kinds' names, sorted.
  public var kindNames: [String] { kindsByName.keys.map(\.name).sorted() }

  /// Returns the kind with this name; `nil` if there is none.
  public func kind(_ name: KindName) -> (any SDKKind)? { kindsByName[name] }

  /// Returns the settings of a kind that are shown to no caller.
  func secretSettings(of kind: KindName) -> Set<String> { secretSettings[kind] ?? [] }

  /// The current access rules of the daemon.
  public var access: AccessPolicy { rules.withLock { $0.access } }

  /// Replaces the access rules, for requests from now on.
  public func use(_ access: AccessPolicy) {
    rules.withLock { $0 = Rules(access) }
    access.names.request(access.requiredNames, for: 0)
    accessChanges.add(1, ordering: .relaxed)
  }

  // MARK: Finding

  /// All instances, by id.
  public var instances: [HostedInstance] { unsortedInstances.sorted { $0.id < $1.id } }

  var unsortedInstances: [HostedInstance] {
    unsortedEntries.compactMap { if case .hosted(let instance) = $0 { instance } else { nil } }
  }

  /// All entries in no order.
  var unsortedEntries: [Entry] { look { Array($0.entries.values) } }

  /// The instances that could not be opened.
  public var quarantined: [QuarantinedInstance] {
    guard quarantinedCount > 0 else { return [] }
    return unsortedEntries.compactMap { if case .quarantined(let instance) = $0 { instance } else { nil } }
      .sorted { $0.id < $1.id }
  }

  /// The number of instances that could not be opened.
  var quarantinedCount: Int { entries.withLock { $0.quarantinedCount } }

  /// Returns the instances among the next `count` entries after `id`, by id, and the id to continue with; `nil` at the
  /// end.
  public func instances(after id: InstanceID?, atMost count: Int) -> (instances: [HostedInstance], next: InstanceID?) {
    let found = entries(after: id, atMost: count)
    let instances = found.compactMap { if case .hosted(let instance) = $0 { instance } else { nil } }
    return (instances, found.count < count ? nil : found.last?.id)
  }

  /// The number of instances that wait for a new credential.
  public var waitingCount: Int { states.waiting.count }

  /// Returns the entries whose names come after `id`, sorted, at most `count` of them.
  func entries(after id: InstanceID?, atMost count: Int) -> [Entry] {
    look { $0.entries(after: id, atMost: count) }
  }

  /// The number of entries.
  var count: Int { entries.withLock { $0.entries.count } }

  /// Returns the entries with these names, in their order.
  func look(at names: some Collection<InstanceID>) -> [Entry] {
    look { table in names.compactMap { table.entries[$0] } }
  }

  private func look(_ read: (borrowing Table) -> [Entry]) -> [Entry] {
    let found = entries.withLock { read($0) }
    looks.add(found.count, ordering: .relaxed)
    return found
  }

  func hosted(_ id: InstanceID) -> HostedInstance? {
    entries.withLock { if case .hosted(let instance)? = $0[id] { instance } else { nil } }
  }

  /// Returns the instance with this UUID; `nil` if there is none.
  public func instance(uuid: String) -> HostedInstance? { entries.withLock { $0[uuid: uuid] } }

  /// Returns the kind of an instance, also of a recently deleted one, for records about its end.
  func kind(ofInstance id: InstanceID) -> KindName? {
    hosted(id)?.kind ?? deleted.withLock { $0.kind(of: id) }
  }

  /// Whether an instance has this name, visible or not.
  func isKnown(_ id: InstanceID) -> Bool { entries.withLock { $0[id] != nil } }

  /// Returns the peer's role on an instance; `nil` when it is hidden.
  public func role(of peer: Peer, on instance: HostedInstance) -> Role? {
    let rules = rules.withLock { $0 }
    return rules.access.role(of: peer, by: instance.roles(rules.access.names))
  }

  /// Returns the instance and the peer's role on it, if that is at least the one that is needed.
  ///
  /// - Throws: `instanceNotFound` for hidden and missing ones alike, `accessDenied`, `instanceQuarantined`.
  func find(
    _ id: InstanceID, for peer: Peer, atLeast needed: Role
  ) throws(SDKError) -> (instance: HostedInstance, role: Role) {
    switch entries.withLock({ $0[id] }) {
    case .hosted(let instance)?:
      guard let role = role(of: peer, on: instance) else { throw .instanceNotFound(id) }
      guard role >= needed else {
        throw .accessDenied(
          "This takes the role \(needed.name) on \(id), and the caller has \(role.name); its owner or an admin can give it.",
          instance: id)
      }
      return (instance, role)
    case .quarantined(let instance)?:
      guard access.isAdmin(peer) else { throw .instanceNotFound(id) }
      throw SDKError(
        .store, .instanceQuarantined,
        "The stored rows of \(id) don't open (\(instance.problem)); restore a backup or delete the instance.",
        instance: id)
    case nil: throw .instanceNotFound(id)
    }
  }
}
