public import SDKProtocol
public import StateStore
import Synchronization

extension InstanceRegistry: EventDirectory {
  public func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience {
    EventAudience(policy: access, standing: standing(of: uuid, id: id))
  }

  private func standing(of uuid: InstanceUUID, id: InstanceID) -> InstanceStanding? {
    if let instance = hosted(id), instance.uuid == uuid { return instance.currentDefinition.standing }
    return departed.withLock { $0[uuid]?.standing }
  }

  public func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>? {
    let policy = access
    if filter.instances == nil, filter.labels.isEmpty, policy.isAdmin(peer) { return nil }
    let present = filter.instances.map { $0.compactMap { id in hosted(id) } } ?? unsortedInstances
    let gone = departed.withLock { departed in
      departed.entries.filter { filter.instances?.contains($0.value.id) != false }
    }
    var watched = Set<InstanceUUID>()
    func add(_ uuid: InstanceUUID, _ id: InstanceID, _ standing: InstanceStanding) {
      guard filter.admits(id, labels: standing.labels) else { return }
      if EventAudience(policy: policy, standing: standing).admits(peer) { watched.insert(uuid) }
    }
    for instance in present { add(instance.uuid, instance.id, instance.currentDefinition.standing) }
    for (uuid, entry) in gone { add(uuid, entry.id, entry.standing) }
    return watched
  }
}
