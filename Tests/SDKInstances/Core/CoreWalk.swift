import DelegateBridge
import Doubles
import JSONRPC
import Randomness
import SDKProtocol
import Testing

@testable import SDKInstances
@testable import StateStore

/// The state of an instance in a simulated environment. Commits succeed or fail, and effects get their results later, in
/// any order, perhaps too late.
struct CoreWalk {
  /// Work that an effect has begun.
  struct Work {
    var service: String?
    var epoch: UInt64
    var effect: Effect
    var identity: IdentityRecord
  }

  private(set) var core: InstanceCore
  private(set) var work: [Work] = []
  private(set) var rules = CoreRules()
  private(set) var store = InMemoryState()
  private(set) var context = StepContext(now: ManualClock.start)
  private let fault: CoreFault?
  /// The last steps.
  private(set) var trace: [String] = []
  private var number = 0

  init(_ policy: AuthenticationPolicy, services: [String] = [], fault: CoreFault? = nil) throws {
    self.fault = fault
    let settings: JSONObject = [
      "base_url": "https://a.example", "services": .array(services.map(JSON.string)), "renews": true, "realtime": true,
      "farewell": true, "retry": true, "orphans": .bool(policy.maxAttempts > 1),
      "anonymous": .bool(policy.maxAttempts > 1),
    ]
    let kind = FakeKind(policy: policy)
    let definition = Definition(
      kind: kind.name, source: .api, owner: 0, settings: settings, provider: World.provider, access: AccessRules(),
      labels: [:])
    let stored = StoredInstance(
      uuid: InstanceUUID(RandomUUID.make()), id: try #require(InstanceID("desk")), createdAt: context.now,
      definition: try JSONValueEncoder.encode(definition))
    let adapter = FakeAdapter(
      vendor: kind.vendor, common: CommonSettings(timeout: nil, caFile: nil, refresh: nil, mode: .eager),
      policy: policy, settings: settings)
    core = try InstanceCore(
      stored, definition: definition, adapter: adapter, provider: try definition.providerConfiguration(),
      now: context.now, random: { 0.5 })
    _ = try store.apply(
      InstanceChange(uuid: stored.uuid, id: stored.id, kind: kind.name, parts: [.create(stored)]), at: context.now)
  }

  // MARK: Moves

  /// Something that happens to the instance.
  struct Move {
    enum Kind {
      /// A login with a token that lives for `lifetime` seconds, or without limit if that is `nil`.
      case signIn(user: String, lifetime: Double?, isAwaited: Bool)
      case signOut(isLocal: Bool)
      case token(minTTL: Double)
      case refresh(isResetting: Bool)
      /// An app reports that the vendor refused the token.
      case report
      case createUser
      case amend
      case register(address: Int)
      case unregister(Int)
      /// An app opens a session.
      case hasten
      /// The vendor refuses a request in the user's name.
      case refuse
      /// The vendor's clock is found to be ahead.
      case vendorAhead(Double)
      /// Time passes, and the deadline is served.
      case wait(Double)
      /// Work ends: well if `failure` is `nil`. A new token lives for `lifetime` seconds.
      case result(of: Int, failure: SDKError?, lifetime: Double?)
    }

    var kind: Kind
    var service: String?
    /// Whether the change can't be stored.
    var fails = false
  }

  /// Makes one move at random.
  mutating func step(_ random: inout SeededGenerator) {
    context.random = Double.random(in: 0...1, using: &random)
    context.hasDelegate = Int.random(in: 0..<10, using: &random) == 0
    context.nextProviderAttempt = Int.random(in: 0..<10, using: &random) == 0 ? context.now + 20 : nil
    var kind: Move.Kind
    if !work.isEmpty, Int.random(in: 0..<5, using: &random) < 3 {
      kind = Self.result(of: Int.random(in: 0..<work.count, using: &random), &random)
    } else {
      kind = call(&random)
    }
    let service = core.services.randomElement(using: &random)?.service
    make(Move(kind: kind, service: service, fails: Int.random(in: 0..<12, using: &random) == 0))
  }

  /// Gives every effect a result, until none is left.
  mutating func drain(_ random: inout SeededGenerator) {
    for _ in 0..<10_000 where !work.isEmpty {
      make(Move(kind: Self.result(of: work.count - 1, &random), fails: Int.random(in: 0..<12, using: &random) == 0))
    }
  }

  private func call(_ random: inout SeededGenerator) -> Move.Kind {
    switch Int.random(in: 0..<17, using: &random) {
    case 0, 1:
      .signIn(
        user: Bool.random(using: &random) ? "alice" : "bob", lifetime: Self.lifetime(&random),
        isAwaited: Bool.random(using: &random))
    case 2: .signOut(isLocal: Bool.random(using: &random))
    case 3, 4: .token(minTTL: [0, 30, 4000].randomElement(using: &random) ?? 0)
    case 5: .refresh(isResetting: Bool.random(using: &random))
    case 6: .report
    case 7: .createUser
    case 8: .amend
    case 9: .register(address: number % 5)
    case 10: .unregister(Int.random(in: 0..<8, using: &random))
    case 11: .hasten
    case 12: .refuse
    case 13: .vendorAhead([0, 0, 45, -45].randomElement(using: &random) ?? 0)
    default: .wait([1, 20, 61, 700, -50].randomElement(using: &random) ?? 1)
    }
  }

  private static func result(of index: Int, _ random: inout SeededGenerator) -> Move.Kind {
    let failure = Bool.random(using: &random) ? failures.randomElement(using: &random) : nil
    return .result(of: index, failure: failure, lifetime: lifetime(&random))
  }

  private static let failures = [
    SampleErrors.refused, SampleErrors.network, SampleErrors.forbidden, SampleErrors.serverError,
  ]

  private static func lifetime(_ random: inout SeededGenerator) -> Double? {
    Bool.random(using: &random) ? Double.random(in: 10...4000, using: &random) : nil
  }

  /// Makes a move.
  mutating func make(_ move: Move) {
    let (service, fails) = (move.service, move.fails)
    switch move.kind {
    case .signIn(let user, let lifetime, let isAwaited):
      let token = token(of: user, lifetime: lifetime)
      let operation = isAwaited ? nil : "op-\(number)"
      perform(service, fails: fails) { core, context in
        try core.signIn(token, operation: operation, on: service, context)
      }
    case .signOut(let isLocal):
      perform(service, fails: fails) { core, context in
        try core.signOut(
          localOnly: isLocal, as: .explicit, operation: nil, telling: [], requiringUser: nil, on: service, context)
      }
    case .token(let minTTL):
      perform(service, fails: fails) { core, context in
        try core.wanted(TokenDemand(minTTL: minTTL), isRenewed: false, on: service, context).step
      }
    case .refresh(let isResetting):
      perform(service, fails: fails) { try $0.refreshDemanded(resetting: isResetting, on: service, $1) }
    case .report: perform(service, fails: fails) { $0.reported(SampleErrors.refused, on: service, $1) }
    case .createUser: perform(service, fails: fails) { try $0.createAnonymousUser(on: service, $1) }
    case .amend:
      let value = Secret("value\(number)")
      perform(service, fails: fails) { core, _ in
        try core.amend(service, requiringUser: nil) { $0["note"] = value }
      }
    case .register(let address):
      guard let state = core[service], state.identity.user != .none else { return }
      let endpoint = PushEndpoint(address: Secret("a\(address)"), type: .other, locale: nil)
      number += 1
      let (id, now) = ("p-\(number)", context.now)
      guard let new = try? core.registration(of: endpoint, on: state, rules: PushRules(), newId: id, now) else {
        return
      }
      perform(service, fails: fails) { core, _ in
        try core.keep(new.push, replacing: new.former, epoch: state.machine.epoch).step
      }
    case .unregister(let index):
      guard !core.pushes.isEmpty else { return }
      let push = core.pushes[index % core.pushes.count]
      perform(service, fails: fails) { core, _ in core.remove(push) }
    case .hasten: perform(service, fails: fails) { $0.hastenConnection(of: service, $1) }
    case .refuse:
      guard let identity = core[service]?.identity else { return }
      perform(service, fails: fails) { try $0.requestRefused(SampleErrors.refused, of: identity, on: service, $1) }
    case .vendorAhead(let seconds): context.vendorAhead = seconds
    case .wait(let seconds):
      context.now = context.now + seconds
      deadlineReached(fails: fails)
    case .result(let index, let failure, let lifetime):
      result(of: work.remove(at: index), failure, lifetime: lifetime, fails: fails)
    }
  }

  private mutating func deadlineReached(fails: Bool) {
    for service in core.services.map(\.service) {
      perform(service, fails: fails) { $0.repeatWipe(on: service, $1) }
      perform(service, fails: fails) { $0.noticeExpiry(on: service, $1) }
      perform(service, fails: fails) { $0.keepConnection(of: service, $1) }
      perform(service, fails: fails) { $0.deadlineReached(on: service, $1) }
    }
    perform(nil, fails: fails) { Step(effects: $0.startDeliveries($1)) }
  }

  // MARK: Results

  private mutating func result(of work: Work, _ failure: SDKError?, lifetime: Double?, fails: Bool) {
    let service = work.service
    var epoch = work.epoch
    if fault == .takesLateResults, let present = core[service]?.machine.epoch { epoch = present }
    if let number = work.attempt ?? work.connection {
      return connectionResult(of: work, number: number, failure, fails: fails)
    }
    let renewed = token(of: work.identity.user.externalId ?? "alice", lifetime: lifetime)
    perform(service, fails: fails) { core, context in
      let step: Step
      switch work.effect {
      case .signIn(let token):
        step =
          if let failure { core.received(.signInFailed(epoch: epoch, failure), on: service, context) } else {
            core.signedIn(Self.user(token), epoch: epoch, on: service, context)
          }
      case .createAnonymousUser:
        let visitor = SignedIn(
          user: User(id: "v", authenticationType: .sessionToken, authenticated: false, verified: false),
          credential: Credential(
            token: Secret("s-v"), type: .sessionToken, obtainedAt: context.now, expiresAt: nil))
        step =
          if let failure { core.received(.anonymousFailed(epoch: epoch, failure), on: service, context) } else {
            core.received(.anonymousAccepted(epoch: epoch), on: service, with: visitor, context)
          }
      case .endFormer:
        step =
          if let failure { core.received(.formerEndFailed(epoch: epoch, failure), on: service, context) } else {
            core.formerEnded(work.identity.credential, epoch: epoch, on: service, context)
          }
      case .endSession:
        step = core.received(
          failure.map { .signOutFailed(epoch: epoch, $0) } ?? .signOutAccepted(epoch: epoch), on: service, context)
      case .renewItself:
        var result = Self.user(renewed)
        result.user = work.identity.user
        result.isIrreplaceable = true
        step =
          if let failure { core.renewalFailed(failure, epoch: epoch, on: service, context) } else {
            core.renewed(result, byItself: true, epoch: epoch, on: service, context)
          }
      case .verify(let offered, let isProvided):
        var result = Self.user(offered)
        if work.identity.user != .none { result.user = work.identity.user }
        step =
          if let failure {
            core.verificationFailed(
              failure, of: offered, isProvided: isProvided, epoch: epoch, on: service, context)
          } else {
            core.renewed(result, byItself: false, epoch: epoch, on: service, context)
          }
      case .probe: step = core.probed(failure, epoch: epoch, on: service, context)
      case .ask:
        if let failure {
          let provider = failure == SampleErrors.refused ? SampleErrors.denied : SampleErrors.failed
          let answer: AuthenticationMachine.Answer =
            failure == SampleErrors.refused ? .denied(provider) : .failed(provider)
          step = core.received(.answered(epoch: epoch, answer), on: service, context)
        } else {
          step = core.answered(
            BridgeAnswer(token: renewed.credential.token), epoch: epoch, askedAt: context.now, on: service, context)
        }
      case .confirm(_, let cause):
        step = core.received(
          .confirmed(epoch: epoch, failure == nil ? .proceed : .declined(cause)), on: service, context)
      case .feedBack(let input): step = core.received(input, on: service, context)
      case .offer(let credential):
        step = core.offered(credential, isProvided: true, epoch: epoch, on: service, context)
      case .deliver(let delivery), .abandonLate(let delivery):
        step = core.delivered(delivery, leaving: delivery.details, failure: failure, context)
      default: step = Step()
      }
      return step
    }
  }

  private mutating func connectionResult(of work: Work, number: UInt64, _ failure: SDKError?, fails: Bool) {
    let service = work.service
    guard let failure else {
      if work.attempt != nil {
        return perform(service, fails: fails) {
          core, _ in
          let user = SignedIn(user: work.identity.user, credential: nil, connection: FakeConnection(user: "a"))
          return core.connected(as: user, number: number, epoch: work.epoch, on: service)
        }
      }
      // The connection stays open after news.
      if core[service]?.connection.number == number { self.work.append(work) }
      let news = RealtimeNews.learned(["seen": Secret("\(self.number)")], credential: nil)
      return perform(service, fails: fails) { $0.heard(news, number: number, on: service, $1) }
    }
    let end: RealtimeEnd = failure == SampleErrors.refused ? .refused(failure) : .lost(failure)
    var isPresent = false
    perform(service, fails: fails) {
      isPresent = $0.noteConnectionEnd(end, number: number, on: service, $1)
      return Step()
    }
    if isPresent { perform(service, fails: fails) { $0.connectionEnded(end, on: service, $1) } }
  }

  private mutating func token(of user: String, lifetime: Double?) -> CheckedCredential {
    number += 1
    let end = lifetime.map { context.now + $0 }
    let until = end.map { "@\(($0 - ManualClock.start))" } ?? ""
    return CheckedCredential(
      credential: Credential(
        token: Secret("\(user)#\(number)\(until)"), type: .jwt, obtainedAt: context.now, expiresAt: end),
      externalId: user)
  }

  private static func user(_ token: CheckedCredential) -> SignedIn {
    SignedIn(
      user: User(
        id: "v-\(token.externalId ?? "")", externalId: token.externalId, authenticationType: .jwt, authenticated: true,
        verified: true),
      credential: token.credential, kindState: ["refresh": Secret("r-\(token.externalId ?? "")")])
  }

  // MARK: Steps

  /// Makes a step as the instance would.
  ///
  /// - Parameter make: changes the state, and returns the step.
  private mutating func perform(
    _ service: String?, fails: Bool,
    _ make: (inout InstanceCore, StepContext) throws -> Step
  ) {
    let former = core
    var next = core
    guard var step = try? make(&next, context) else { return }
    fault?.plant(in: &next, &step, from: former)
    if let activity = step.awaited { rules.wait(for: activity) }
    let commit = commit(step, fails: fails)
    let end: SettledStep
    if fault == .takesFailedCommitsOver, case .failure = commit {
      core = next
      end = SettledStep(effects: step.effects)
    } else {
      end = core.settle(step, to: next, commit)
    }
    if case .failure = commit, case .keepInMemory = step.failure, let change = step.change {
      rules.noteUnsaved(change)
    }
    trace.append("\(service ?? "-"): \(step.effects.map { "\($0.effect)".prefix(60) }) \(commit)".prefix(400) + "")
    if trace.count > 8 { trace.removeFirst() }
    for (service, effect) in end.effects { begin(effect, of: service) }
    if case .success = commit { rules.check(step, from: former, to: core, store) }
    rules.check(self)
  }

  private mutating func commit(_ step: Step, fails: Bool) -> Result<CommitResult, SDKError> {
    guard let change = step.change else { return .success(CommitResult()) }
    guard !fails else { return .failure(SDKError(.store, .storeUnavailable, "The disk is full.")) }
    do throws(SDKError) {
      return .success(try store.apply(change, at: context.now))
    } catch {
      rules.note("the store refuses a change: \(error.message)")
      return .failure(error)
    }
  }

  private mutating func begin(_ effect: Effect, of service: String?) {
    rules.note(effect, of: service)
    guard let state = core[service] else { return }
    switch effect {
    case .endDemand: work.removeAll { $0.service == service && $0.isOfTheBridge }
    case .end, .supersede, .resetBreaker, .judgeAnswer, .log, .logConnection, .logAbandoned, .logDropped,
      .renewalEnded, .release, .closeConnection, .abandon, .undoAtVendor, .restorePushes, .distrustClock:
      break
    default: work.append(Work(service: service, epoch: state.machine.epoch, effect: effect, identity: state.identity))
    }
  }
}

extension CoreWalk.Work {
  /// Whether the work is a request to the bridge, which ends with the demand.
  var isOfTheBridge: Bool {
    switch effect {
    case .ask, .confirm: true
    default: false
    }
  }

  /// Whether the work is that of an activity. Its result ends the activity or takes it further.
  var isOfAnActivity: Bool {
    switch effect {
    case .connect, .listen, .deliver, .abandonLate: false
    default: true
    }
  }
}
