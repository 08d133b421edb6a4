import Doubles
import SDKProtocol

@testable import SDKInstances
@testable import StateStore

/// The rules that hold after each step of an instance, and those that were broken.
struct CoreRules {
  private(set) var broken: Set<String> = []
  /// The activities for which callers wait.
  private var awaited: Set<ActivityID> = []
  private var ended: Set<ActivityID> = []
  /// The number of the open connection of each service.
  private var connections: [String?: UInt64] = [:]
  private var attempts: Set<String> = []
  /// The deliveries whose end could not be stored. The disk keeps them, so they are made again after a restart.
  private var unsaved: Set<String> = []

  mutating func note(_ rule: String) { broken.insert(rule) }

  mutating func wait(for activity: ActivityID) {
    if !ended.contains(activity) { awaited.insert(activity) }
  }

  /// Notes a change of deliveries that took effect in memory only.
  mutating func noteUnsaved(_ change: InstanceChange) {
    for case .deleteOutbox(let id) in change.parts { unsaved.insert(id) }
  }

  /// Notes an effect that begins.
  mutating func note(_ effect: Effect, of service: String?) {
    switch effect {
    case .end(let activity, _), .supersede(let activity, _):
      if !ended.insert(activity).inserted { note("an activity ends twice") }
      awaited.remove(activity)
    case .listen(_, let number):
      if connections.updateValue(number, forKey: service) != nil { note("a second connection is opened") }
    case .closeConnection:
      if connections.removeValue(forKey: service) == nil { note("a connection is closed that is not open") }
    case .deliver(let delivery), .abandonLate(let delivery):
      if !attempts.insert(delivery.id).inserted { note("a delivery is made twice at a time") }
    default: break
    }
  }

  /// Checks what a committed step changed.
  mutating func check(_ step: Step, from former: InstanceCore, to core: InstanceCore, _ store: InMemoryState) {
    guard let change = step.change else { return }
    let wipes = change.parts.contains { if case .wipe = $0 { true } else { false } }
    for state in core.services {
      guard let before = former[state.service]?.identity.user.externalId else { continue }
      if state.identity.user.externalId != before, !wipes { note("a user goes without a wipe") }
    }
    guard let stored = store.instances.first else { return note("the instance is gone from the store") }
    if stored.epoch != core.durableEpoch { note("the epoch on disk is another one") }
    if stored.storageEpoch != core.storageEpoch { note("the storage epoch on disk is another one") }
    if Set(stored.pushes.map(\.id)) != Set(core.pushes.map(\.id)) { note("the registrations on disk are others") }
    if change.parts.contains(where: { if case .identify = $0 { true } else { false } }) {
      if stored.identity != (try? core.storedIdentities()) { note("the identity on disk is another one") }
      let deliveries = Set(stored.outbox.map(\.id)).subtracting(unsaved)
      if deliveries != Set(core.deliveries.map(\.id)) { note("the deliveries on disk are others") }
    }
  }

  /// Checks the present state.
  mutating func check(_ walk: CoreWalk) {
    let core = walk.core
    for state in core.services {
      let isIdle = state.machine.activity == .idle
      if (state.running == nil) != isIdle { note("an activity has no record, or a record no activity") }
      let busy = walk.work.count { work in
        work.service == state.service && work.epoch == state.machine.epoch && work.isOfAnActivity
      }
      if !isIdle, busy == 0 { note("an activity waits for nothing") }
      if isIdle ? busy > 0 : busy > 1 { note("an activity does two things at a time") }
      if let user = state.identity.user.externalId, let credential = state.identity.credential, credential.type == .jwt,
        !credential.token.reveal().hasPrefix("\(user)#")
      {
        note("a credential is of another user")
      }
      check(state, walk)
    }
    if !awaited.isSubset(of: Set(core.services.compactMap(\.running?.id))) { note("a caller waits for no activity") }
    attempts.formIntersection(walk.work.compactMap(\.delivery))
    if core.delivering != attempts { note("a delivery in progress is not noted") }
    if core.deliveries.count > StoredOutboxEntry.maximumCount { note("there are too many deliveries") }
  }

  private mutating func check(_ state: ServiceState, _ walk: CoreWalk) {
    // A connection whose end has arrived is closed already.
    if let number = connections[state.service],
      !walk.work.contains(where: { $0.service == state.service && $0.connection == number })
    {
      connections[state.service] = nil
    }
    if state.connection.isOpen != (connections[state.service] != nil) { note("a connection is open without its user") }
    let attempts = walk.work.count { $0.service == state.service && $0.attempt == state.connection.number }
    if attempts != (state.connection.isOpening ? 1 : 0) { note("a connection is opened twice, or never") }
    if state.connection.isOpen, !state.machine.mayHandOut, state.machine.activity != .signingOut {
      note("a connection outlives its credential")
    }
  }
}

extension CoreWalk.Work {
  fileprivate var delivery: String? {
    switch effect {
    case .deliver(let delivery), .abandonLate(let delivery): delivery.id
    default: nil
    }
  }

  var connection: UInt64? { if case .listen(_, let number) = effect { number } else { nil } }

  var attempt: UInt64? { if case .connect(let number) = effect { number } else { nil } }
}

/// A fault that a careless change could make, planted to show that the rules find it.
enum CoreFault: CaseIterable {
  case forgetsWipes, keepsFormerCredentials, losesEnds, endsTwice, forgetsActivities, asksTwice, takesLateResults
  case leaksConnections, deliversTwice, losesRegistrations, forgetsEpochs, takesFailedCommitsOver, losesWork
  case forgetsCleanup

  /// Changes a step as the fault would.
  func plant(in core: inout InstanceCore, _ step: inout Step, from former: InstanceCore) {
    switch self {
    case .forgetsWipes: step.change?.parts.removeAll { if case .wipe = $0 { true } else { false } }
    case .keepsFormerCredentials:
      for state in former.services where core[state.service]?.identity.user != state.identity.user {
        core[state.service]?.identity.credential = state.identity.credential
      }
    case .losesEnds: step.effects.removeAll { if case .end = $0.effect { true } else { false } }
    case .endsTwice: step.effects += step.effects.filter { if case .end = $0.effect { true } else { false } }
    case .forgetsActivities: for index in core.services.indices { core.services[index].running = nil }
    case .asksTwice: step.effects += step.effects.filter { if case .ask = $0.effect { true } else { false } }
    case .leaksConnections:
      step.effects.removeAll { if case .closeConnection = $0.effect { true } else { false } }
    case .deliversTwice:
      step.effects += step.effects.filter { if case .deliver = $0.effect { true } else { false } }
    case .losesRegistrations: step.change?.parts.removeAll { if case .putPush = $0 { true } else { false } }
    case .forgetsEpochs: step.change?.parts.removeAll { if case .raiseEpoch = $0 { true } else { false } }
    case .losesWork: step.effects.removeAll { if case .verify = $0.effect { true } else { false } }
    case .forgetsCleanup: core.deliveries = former.deliveries
    case .takesLateResults, .takesFailedCommitsOver: break
    }
  }
}
