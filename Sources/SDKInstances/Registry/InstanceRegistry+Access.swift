import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

extension InstanceRegistry: EventDirectory {
  public func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience {
    EventAudience(policy: access, access: access(of: uuid, id: id))
  }

  private func access(of uuid: InstanceUUID, id: InstanceID) -> InstanceAccess? {
    if let access = arriving.withLock({ $0[uuid]?.access }) { return access }
    if let instance = hosted(id), instance.uuid == uuid { return instance.currentAccess }
    return deleted.withLock { $0[uuid]?.access }
  }

  public func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>? {
    let policy = access
    if filter.instances == nil, filter.labels.isEmpty, policy.isAdmin(peer) { return nil }
    // Read these first, since each of them becomes an entry.
    let coming = arriving.withLock { $0 }
    let present = filter.instances.map { $0.compactMap { id in hosted(id) } } ?? unsortedInstances
    let gone = deleted.withLock { deleted in
      deleted.entries.filter { filter.instances?.contains($0.value.id) != false }
    }
    var watched = Set<InstanceUUID>()
    func add(_ uuid: InstanceUUID, _ id: InstanceID, _ access: InstanceAccess) {
      guard EventAudience(policy: policy, access: access).admits(peer) else { return }
      if filter.admits(id, labels: access.labels) { watched.insert(uuid) }
    }
    for instance in present { add(instance.uuid, instance.id, instance.currentAccess) }
    for (uuid, entry) in gone { add(uuid, entry.id, entry.access) }
    for (uuid, entry) in coming where filter.instances?.contains(entry.id) != false {
      add(uuid, entry.id, entry.access)
    }
    return watched
  }
}

extension InstanceRegistry {
  /// The user and group names in all current access rules, by the uid of the rules' owner.
  public var namesInUse: [UInt32: Set<SystemName>] {
    var names = deleted.withLock { $0.names }
    names[0, default: []].formUnion(access.requiredNames)
    for instance in unsortedInstances {
      let access = instance.currentAccess
      names[access.owner, default: []].formUnion(access.names)
    }
    return names
  }

  /// Requests the resolution of the names in an instance's rules. To be called when its definition has taken effect.
  func requestNames(of instance: HostedInstance) {
    let instance = instance.currentAccess
    access.names.request(instance.names, for: instance.owner)
  }

  /// Logs how many rules of a stored definition were dropped because they are no longer valid.
  func reportDroppedRules(of stored: StoredInstance, _ definition: Definition) {
    let before = stored.definition["access"]?.objectValue?.members.reduce(0) { $0 + ($1.value.arrayValue?.count ?? 0) }
    let after = definition.access.byRole.reduce(0) { $0 + $1.rules.count }
    guard let before, before > after else { return }
    environment.logger.warning(
      """
      \(before - after) access rules of this instance are left out: they can match nobody, or are past the \
      \(AccessRules.maximumPerRole) that a role can have. Set its access again.
      """, metadata: ["instance": "\(stored.id)"])
  }
}
