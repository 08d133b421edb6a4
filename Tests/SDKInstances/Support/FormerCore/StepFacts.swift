import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore

@testable import SDKInstances

/// Everything that a step says, and the state after it, as a list of values that can be compared.
///
/// Both cores give a new delivery an id at random, so an id that was not there before is replaced.
struct StepFacts {
  private(set) var facts: [AnyHashable] = []
  private let known: Set<String>

  /// - Parameter former: the state before the step.
  init(_ step: Step, _ core: InstanceCore, from former: InstanceCore) {
    known = Set(former.deliveries.map(\.id))
    if let change = step.change { addChange(change) }
    add("error", step.error)
    switch step.failure {
    case .undo: add("undo")
    case .keepInMemory: add("keepInMemory")
    case .keepIdentityInMemory: add("keepIdentityInMemory")
    case .end(let activities, let service, let rests, let wipe, let isKnown):
      add("end", activities, service)
      add(rests, wipe, isKnown)
    }
    add("awaited", step.awaited, step.wiping)
    for (service, effect) in step.effects {
      add("effect", service)
      addEffect(effect)
    }
    addCore(core)
  }

  /// Returns the first value in which these differ from others, with its neighbours; `nil` if they are the same.
  func difference(from others: StepFacts) -> String? {
    let common = min(facts.count, others.facts.count)
    let index = (0..<common).first { facts[$0] != others.facts[$0] } ?? common
    if index == common, facts.count == others.facts.count { return nil }
    func text(_ list: [AnyHashable]) -> String { "\(list[max(0, index - 2)..<min(index + 3, list.count)])" }
    return "\(text(facts)) in place of \(text(others.facts))"
  }

  private mutating func add<each Fact: Hashable>(_ fact: repeat each Fact) {
    repeat facts.append(AnyHashable(each fact))
  }

  private func name(_ id: String) -> String { known.contains(id) ? id : "new" }

  private mutating func addDelivery(_ delivery: Delivery) {
    var delivery = delivery
    delivery.id = name(delivery.id)
    facts.append(AnyHashable(delivery))
  }

  private mutating func addChange(_ change: InstanceChange) {
    add("change", change.expectedEpoch, change.expectedStorageEpoch)
    for part in change.parts {
      switch part {
      case .create: add("create")
      case .define(let json): add("define", json)
      case .identify(let json): add("identify", json)
      case .raiseEpoch(let epoch): add("raiseEpoch", epoch)
      case .putValue(let key, let value, _): add("putValue", key, value)
      case .deleteValue(let key): add("deleteValue", key)
      case .putPush(let id, let json): add("putPush", id, json)
      case .deletePush(let id): add("deletePush", id)
      case .putOutbox(let id, let json, let deadline):
        add("putOutbox", name(id), deadline)
        if let delivery = try? JSONValueDecoder.decode(Delivery.self, from: json) { addDelivery(delivery) }
      case .deleteOutbox(let id): add("deleteOutbox", name(id))
      case .wipe: add("wipe")
      case .delete: add("delete")
      }
    }
    for event in change.events {
      add("event", event.type, event.service)
      add(event.operation, event.data, event.audience)
    }
  }

  private mutating func addEffect(_ effect: Effect) {
    switch effect {
    case .end(let activity, let outcome): add("end", activity, outcome)
    case .supersede(let activity, let error): add("supersede", activity, error)
    case .endDemand: add("endDemand")
    case .resetBreaker: add("resetBreaker")
    case .judgeAnswer(let isUsable): add("judgeAnswer", isUsable)
    case .log(let notice, let tokenId): add("log", notice, tokenId)
    case .logAbandoned(let delivery, let error):
      add("logAbandoned", error)
      addDelivery(delivery)
    case .logDropped(let deliveries):
      add("logDropped")
      for delivery in deliveries { addDelivery(delivery) }
    case .logConnection(let error, let isRefused): add("logConnection", error, isRefused)
    case .renewalEnded(let renewal): add("renewalEnded", renewal)
    case .release(let place): add("release", place)
    case .signIn(let credential): add("signIn", credential)
    case .endFormer(let credential): add("endFormer", credential)
    case .endSession(let credential, let kindState): add("endSession", credential, kindState)
    case .createAnonymousUser: add("createAnonymousUser")
    case .renewItself: add("renewItself")
    case .verify(let credential, let isProvided): add("verify", credential, isProvided)
    case .probe(let credential): add("probe", credential)
    case .undo(let result, let logsOut): add("undo", result.user, logsOut)
    case .ask(let question): add("ask", question)
    case .confirm(let question, let error): add("confirm", question, error)
    case .follow(let input): add("follow", input)
    case .offer(let credential): add("offer", credential)
    case .connect(let number): add("connect", number)
    case .closeConnection: add("closeConnection")
    case .listen(let connection, let number): add("listen", Self.identity(of: connection), number)
    case .abandon(let connection): add("abandon", Self.identity(of: connection))
    case .distrustClock: add("distrustClock")
    case .restorePushes: add("restorePushes")
    case .deliver(let delivery):
      add("deliver")
      addDelivery(delivery)
    case .abandonLate(let delivery):
      add("abandonLate")
      addDelivery(delivery)
    }
  }

  private static func identity(of connection: any RealtimeConnection) -> ObjectIdentifier? {
    (connection as? FakeConnection).map { ObjectIdentifier($0) }
  }

  // MARK: The state

  private mutating func addCore(_ core: InstanceCore) {
    add("core", core.durableEpoch, core.storageEpoch)
    add(core.isDeleted, core.activities, core.pushes)
    for delivery in core.deliveries { addDelivery(delivery) }
    add("delivering", core.delivering.map { name($0) }.sorted())
    for state in core.services { addService(state) }
  }

  private mutating func addService(_ state: ServiceState) {
    add("service", state.service, state.machine)
    add("identity", state.identity)
    add("epochs", state.storedEpoch, state.lastSignOut)
    add("failed wipe", state.failedWipe?.cause, state.failedWipe?.isKnownToVendor)
    if let running = state.running {
      add("running", running.id, running.offered)
      add(running.offersProvided, running.sameUser, running.logout)
      add(running.operation, running.joined, running.events)
      add(running.basis, running.amendments.count)
    }
    add("outage", state.outageToldAt)
    add("flags", [state.isVerified, state.trustsVendorClock, state.isInterrupted, state.isUntried])
    add("provided", state.provided, state.reservation)
    let recovery = state.recovery
    add("recovery", [recovery.endedAt, recovery.since, recovery.beganAt, recovery.probedAt])
    add(recovery.failure, recovery.failures, recovery.trigger)
    add(recovery.wasLogin, recovery.answerTime, recovery.random)
    // The refusals that it counts can only be asked for.
    let now = recovery.endedAt ?? recovery.beganAt ?? Timestamp(secondsSince1970: 0)
    add(
      (1...3).map { limit in
        var recovery = recovery
        return recovery.mayConfirm(now, attempt: 1, atMost: limit)
      })
    let connection = state.connection
    add("connection", [connection.isOpen, connection.isOpening, connection.isRefusalFollowedUp])
    add("connection", connection.number, connection.failures)
    add("connection", connection.subject, connection.refused)
    add("connection", [connection.retryAt, connection.triedAt, connection.heldUntil, connection.connectedAt])
  }
}
