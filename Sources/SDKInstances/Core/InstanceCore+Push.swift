import JSONRPC
import SDKProtocol
import StateStore

extension InstanceCore {
  /// Returns the registrations of a service's present user.
  func ownPushes(of service: String?) -> [PushRecord] { pushes.filter { $0.service == service && !$0.orphaned } }

  /// Stores a registration that the vendor has accepted, and removes the ones that it replaces.
  ///
  /// - Returns: the step, and registrations of the same address that were made meanwhile and are removed too.
  /// - Throws: `superseded` if the user has changed since the registration.
  mutating func keep(
    _ push: PushRecord, replacing former: [PushRecord], epoch: UInt64
  ) throws -> (step: Step, value: [PushRecord]) {
    // A login or logout in progress raised the epoch when it began, so the registration may have begun after that.
    guard !isDeleted, let state = self[push.service], state.machine.epoch == epoch,
      state.identity.subject == push.subject
    else {
      throw SDKError(.state, .superseded, "The user changed while the device was registered.", instance: id)
    }
    var change = newChange(parts: [.putPush(id: push.id, try JSONValueEncoder.encode(push))])
    let late = ownPushes(of: push.service).filter { old in
      old.address == push.address && old.id != push.id && !former.contains { $0.id == old.id }
    }
    let former = former + late
    for old in former where old.id != push.id {
      change.parts.append(.deletePush(id: old.id))
      change.events.append(.init(.pushUnregistered, service: push.service, data: old.eventData))
    }
    change.events.append(.init(.pushRegistered, service: push.service, data: push.eventData))
    pushes.removeAll { old in old.id == push.id || former.contains { $0.id == old.id } }
    pushes.append(push)
    return (Step(change: change), late)
  }

  /// Removes a registration. Does nothing if it does not exist.
  mutating func remove(_ push: PushRecord) -> Step {
    guard pushes.contains(where: { $0.id == push.id }) else { return Step() }
    pushes.removeAll { $0.id == push.id }
    return Step(
      change: unconditionalChange(
        parts: [.deletePush(id: push.id)],
        events: [.init(.pushUnregistered, service: push.service, data: push.eventData)]))
  }

  /// Returns the registration of a device, and those that it replaces.
  ///
  /// - Throws: `storageFull` if the instance has too many others, before the vendor is asked.
  func registration(
    of endpoint: PushEndpoint, on state: ServiceState, rules: PushRules, newId: String, _ now: Timestamp
  ) throws(SDKError) -> (push: PushRecord, former: [PushRecord]) {
    let former = ownPushes(of: state.service).filter { rules.keepsOne || $0.address == endpoint.address }
    let push = PushRecord(
      id: former.first { $0.address == endpoint.address }?.id ?? newId, service: state.service,
      address: endpoint.address, type: endpoint.type.rawValue, locale: endpoint.locale,
      user: shown(state.identity.user), subject: state.identity.subject, createdAt: now)
    guard pushes.count(where: { $0.id != push.id }) < StoredPush.maximumCount else { throw .tooManyPushes(id) }
    return (push, former)
  }
}
