import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

extension InstanceCore {
  /// A changed definition, with the adapter and the provider made from it.
  struct NewDefinition {
    var definition: Definition
    var adapter: any SDKAdapter
    // A constant, because a variable would be `nil` where an initializer leaves it out.
    let provider: ProviderConfiguration?
    /// Whether the settings name another backend, so that the identity is wiped.
    var isOtherBackend: Bool
  }

  /// Applies a changed definition. If it names another backend, the identity is wiped and logins in progress fail. If
  /// it removes a service with a user, storage and that service's identity are wiped; the other services keep theirs.
  mutating func redefine(_ new: NewDefinition, context: (String?) -> StepContext) throws -> Step {
    let (now, former) = (context(nil).now, self)
    // Higher than every epoch in which work began, durable or not, also of services that end now and may come back.
    let epoch = services.map(\.machine.epoch).reduce(durableEpoch, max) + 1
    services = services(for: new.adapter, keeping: !new.isOtherBackend, epoch: epoch, now)
    let kept = Set(services.map(\.service)).intersection(former.services.map(\.service))
    let ended = former.services.filter { new.isOtherBackend || !kept.contains($0.service) }
    let wiped = ended.filter { !$0.identity.isNobody || $0.machine.hasFailedWipe }
    let wipes = !wiped.isEmpty
    var change = newChange(parts: wipes ? [.wipe] : [])
    change.parts.append(.define(try JSONValueEncoder.encode(new.definition)))
    let isReset = wipes || services.count != former.services.count || kept.count != services.count || new.isOtherBackend
    let isSettingChange = definition.settings != new.definition.settings
    let isOtherProvider = provider != new.provider
    let changes = try definition.changes(to: new.definition)
    (definition, adapter, provider) = (new.definition, new.adapter, new.provider)
    if isReset || new.adapter.traits.persistsIdentity != former.adapter.traits.persistsIdentity {
      change.parts.append(.identify(try storedIdentities()))
    }
    if new.isOtherBackend { backendEpoch = epoch }
    if isReset {
      durableEpoch = epoch
      change.parts.append(.raiseEpoch(to: epoch))
    }
    let remaining = deliveries + ended.flatMap { former.farewell(to: $0, sparing: services, now) }
    let error = new.isOtherBackend ? otherBackend : superseded
    change.events += former.events(ending: ended, with: error, context)
    pushes.removeAll { push in
      !push.orphaned && ended.contains { $0.service == push.service && !kept.contains($0.service) }
    }
    if wipes, new.isOtherBackend { pushes = [] }
    let (newest, dropped) = Delivery.newest(remaining)
    let present = Set(deliveries.map(\.id))
    change.parts += dropped.map { .deleteOutbox(id: $0.id) }
    change.parts += Self.parts(
      writing: wipes ? pushes : [], newest.filter { wipes || !present.contains($0.id) })
    deliveries = newest
    if wipes {
      // The event of one service's wipe names the service, as after its logout.
      let service = !new.isOtherBackend && wiped.count == 1 ? wiped[0].service : nil
      change.events.append(.init(.identityWiped, service: service))
    }
    change.events.append(.init(.instanceUpdated, data: changes))
    var step = Step(change: change)
    if !dropped.isEmpty { step.add(.logDropped(dropped), on: nil) }
    step.effects += ended.flatMap { former.ending($0, with: error) }
    for index in services.indices {
      services[index].machine.policy = new.adapter.traits.policy
      let service = services[index].service
      // The failures were those of another provider.
      if isOtherProvider { step.add(.resetBreaker, on: service) }
      if isSettingChange {
        step.add(services[index].dropConnection(), on: service)
        // The new settings can be the remedy, so the vendor may be asked again.
        services[index].recovery.failure?.retryAfter = nil
      }
      step.effects += keepConnection(of: service, context(service)).effects
    }
    step.effects += startDeliveries(context(nil))
    return step
  }

  /// Returns the events of services that end: the outcomes of their logins, and the logouts of their users.
  private func events(
    ending services: [ServiceState], with error: SDKError, _ context: (String?) -> StepContext
  ) -> [InstanceChange.NewEvent] {
    services.flatMap { loginOutcomes(of: $0, failingWith: error, context($0.service)) }
      + services.filter { $0.identity.user != .none && !$0.identity.isNobody }.map { state in
        event(.loggedOut(.switch), of: state, result: nil, context(state.service))
      }
  }

  private var otherBackend: SDKError {
    SDKError(.state, .superseded, "The instance has another backend now; log in again.", instance: id)
  }

  /// Returns the services of a changed definition: the present ones that it keeps, and new ones, which begin at `epoch`.
  private func services(
    for adapter: any SDKAdapter, keeping: Bool, epoch: UInt64, _ now: Timestamp
  ) -> [ServiceState] {
    let fresh = ServiceState.all(of: adapter.traits, epoch: epoch, now: now) { _ in nil }
    return fresh.map { new in
      guard let present = self[new.service] else { return new }
      if keeping { return present }
      var new = new
      // News from the former connection must not be taken for news from the next one.
      new.connection.number = present.connection.number + 1
      return new
    }
  }

  /// Returns the effects that end a service's activity, demand, connection and renewal reservation.
  private func ending(_ state: ServiceState, with error: SDKError) -> [(service: String?, effect: Effect)] {
    var effects: [Effect] = [.endDemand]
    if let activity = state.running { effects.append(.supersede(activity.id, error)) }
    if state.connection.isOpen { effects.append(.closeConnection) }
    if let reservation = state.reservation { effects.append(.release(reservation)) }
    return effects.map { (state.service, $0) }
  }

  /// Destroys everything that the instance stores. Activities in progress fail with `instanceNotFound`.
  mutating func delete() throws -> Step {
    // The event carries its audience: observers of the deleted instance still get its events, including this last one.
    let last = InstanceChange.NewEvent(
      .instanceDeleted,
      audience: try JSONValueEncoder.encode(definition.instanceAccess.bounded(to: DeletedInstances.bytesPerEntry)))
    var step = Step(change: unconditionalChange(parts: [.wipe, .delete], events: [last]))
    isDeleted = true
    for index in services.indices {
      step.effects += ending(services[index], with: SDKError.instanceNotFound(id))
      services[index].running = nil
      services[index].reservation = nil
      services[index].connection.drop()
    }
    return step
  }
}
