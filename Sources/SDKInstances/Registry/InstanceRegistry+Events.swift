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
