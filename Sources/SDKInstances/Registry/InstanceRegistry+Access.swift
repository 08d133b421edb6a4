import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

extension InstanceRegistry: EventDirectory {
  public func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience {
    let policy = access
    if let access = arriving.withLock({ $0[uuid]?.access }) { return EventAudience(policy: policy, access: access) }
    if let instance = hosted(id), instance.uuid == uuid { return audience(of: instance, policy) }
    return EventAudience(policy: policy, access: deleted.withLock { $0[uuid]?.access })
  }

  private func audience(of instance: HostedInstance, _ policy: AccessPolicy) -> EventAudience {
    EventAudience(policy: policy, roles: instance.roles(policy.names), labels: instance.currentAccess.labels)
  }

  public func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>? {
    let policy = access
    if filter.instances == nil, filter.labels.isEmpty, policy.isAdmin(peer) { return nil }
    // Read these first, since each of them becomes an entry.
    let coming = arriving.withLock { $0 }
    let present = filter.instances.map { $0.compactMap { id in hosted(id) } } ?? instances(of: peer)
    let gone = deleted.withLock { deleted in
      deleted.entries.filter { filter.instances?.contains($0.value.id) != false }
    }
    var watched = Set<InstanceUUID>()
    func add(_ uuid: InstanceUUID, _ id: InstanceID, _ audience: EventAudience) {
      guard audience.admits(peer) else { return }
      if filter.admits(id, labels: audience.labels) { watched.insert(uuid) }
    }
    for instance in present { add(instance.uuid, instance.id, audience(of: instance, policy)) }
    for (uuid, entry) in gone { add(uuid, entry.id, EventAudience(policy: policy, access: entry.access)) }
    for (uuid, entry) in coming where filter.instances?.contains(entry.id) != false {
      add(uuid, entry.id, EventAudience(policy: policy, access: entry.access))
    }
    return watched
  }
}

extension InstanceRegistry {
  /// The user and group names in all current access rules, by the user who owns the rules.
  public var namesInUse: [UInt32: Set<SystemName>] {
    let directory = access.names
    var names: [UInt32: Set<SystemName>] = [0: access.requiredNames]
    for (owner, used) in deleted.withLock({ $0.names }) {
      names[directory.user(of: owner), default: []].formUnion(used)
    }
    for instance in unsortedInstances {
      let access = instance.currentAccess
      names[directory.user(of: access.owner), default: []].formUnion(access.names)
    }
    return names
  }

  /// Makes an instance's access rules ready for look-ups. To be called when its definition has taken effect.
  func useRules(of instance: HostedInstance) {
    let names = access.names
    let access = instance.currentAccess
    names.request(access.names, for: names.user(of: access.owner))
    instance.makeRoles(names)
    accessChanges.add(1, ordering: .relaxed)
  }

  /// Takes over the numbers of names that have changed.
  func namesChanged() {
    let names = access.names
    for instance in unsortedInstances where !instance.currentAccess.names.isEmpty { instance.makeRoles(names) }
    accessChanges.add(1, ordering: .relaxed)
  }

  /// Logs how many rules of a stored definition were dropped because they are no longer valid.
  func reportDroppedRules(of stored: StoredInstance, _ definition: Definition) {
    let before = stored.definition["access"]?.objectValue?.members.reduce(0) { $0 + ($1.value.arrayValue?.count ?? 0) }
    let after = definition.access.byRole.reduce(0) { $0 + $1.rules.count }
    guard let before, before > after else { return }
    logger.warning(
      """
      \(before - after) access rules of this instance are left out: they can match nobody, or are past the \
      \(AccessRules.maximumPerRole) that a role can have. Set its access again.
      """, metadata: ["instance": "\(stored.id)"])
  }
}

extension InstanceRegistry {
  /// The instances on which a peer may have a role, in no order.
  private func instances(of peer: Peer) -> [HostedInstance] {
    guard !access.isAdmin(peer), let own = roles.candidates(for: peer, atMost: count / 2) else {
      return unsortedInstances
    }
    return look(at: own).compactMap { if case .hosted(let instance) = $0 { instance } else { nil } }
  }

  /// A number that changes with every change of a rule, or of the number of a name.
  public var accessVersion: Int { accessChanges.load(ordering: .relaxed) }

  /// The summary of all rules: of the daemon and of every instance.
  public var knownPeers: KnownPeers {
    var known = KnownPeers()
    let access = access
    let own = AccessRules(control: access.admins + access.create.map(\.who))
    // A file has no owner, so only the rules count.
    let policy = InstanceAccess(owner: 0, source: .file, access: own, labels: [:])
    for key in RoleTable(policy, names: access.names).keys { known.add(key) }
    roles.describe(in: &known)
    return known
  }
}
