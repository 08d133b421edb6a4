import Foundation
import Randomness
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// The core and the former one, side by side. Serialized, because these tests only compute.
///
/// Every change of a user goes through `apply`, and every step through `settle`. So both cores go the same way if these
/// two make the same of the same state, for every input and every outcome of a commit.
@Suite(.serialized) struct FormerCoreTests {
  /// The number of walks: `SDKD_FORMER_WALKS` for a proof.
  private static let walks = ProcessInfo.processInfo.environment["SDKD_FORMER_WALKS"].flatMap { Int($0) } ?? 2_000
  /// The moves of a walk. After each, one input is compared.
  private static let moves = ProcessInfo.processInfo.environment["SDKD_FORMER_MOVES"].flatMap { Int($0) } ?? 20

  @Test(
    "Both cores make the same step in each state of a random walk", arguments: AuthenticationPolicy.samples.indices)
  func bothMakeTheSameStep(policy: Int) async throws {
    let samples = AuthenticationPolicy.samples
    var (compared, durable) = (0, 0)
    for walk in 0..<Self.walks / samples.count {
      await Task.yield()
      let seed = UInt64(walk * samples.count + policy)
      var random = SeededGenerator(seed: seed)
      var instance = try CoreWalk(samples[policy], services: walk.isMultiple(of: 4) ? ["a", "b"] : [])
      for _ in 0..<Self.moves {
        instance.step(&random)
        let comparison = Comparison(instance, &random)
        let (difference, isDurable) = comparison.run()
        compared += 1
        if isDurable { durable += 1 }
        if let difference {
          Issue.record("seed \(seed): \(comparison.input): \(difference)")
          return
        }
      }
    }
    print("Policy \(policy): \(compared) steps are the same, \(durable) of them with a change.")
    #expect(durable > compared / 50)
  }
}

/// A state and an input for both cores.
private struct Comparison {
  let core: InstanceCore
  let service: String?
  let context: StepContext
  let input: AuthenticationMachine.Input
  var begun: RunningActivity?
  var result: SignedIn?
  let isInformed: Bool

  /// Creates an input at random for a service in its present state.
  init(_ walk: CoreWalk, _ random: inout SeededGenerator) {
    var core = walk.core
    let state = core.services[Int.random(in: 0..<core.services.count, using: &random)]
    service = state.service
    context = walk.context
    isInformed = Int.random(in: 0..<8, using: &random) == 0
    // Most results are of the present epoch, and are of work that is in progress.
    let epoch = state.machine.epoch
    let isLate = Int.random(in: 0..<8, using: &random) == 0
    let inputs = AuthenticationMachine.Input.all(epochs: [isLate && epoch > 0 ? epoch - 1 : epoch]) + Self.rarer(epoch)
    input = inputs[Int.random(in: 0..<inputs.count, using: &random)]
    switch input {
    case .signIn, .signOut: begun = Self.activity(&core, &random)
    default: begun = nil
    }
    result = Int.random(in: 0..<4, using: &random) == 0 ? nil : Self.result(context.now, &random)
    self.core = core
  }

  /// Returns what differs between the steps of both cores, and whether the step has a change.
  func run() -> (difference: String?, isDurable: Bool) {
    var (next, former) = (core, core)
    let step = next.apply(
      input, on: service, beginning: begun, with: result, isInformed: isInformed, context)
    let formerStep = former.formerApply(
      input, on: service, beginning: begun, with: result, isInformed: isInformed, context)
    let facts = StepFacts(step, next, from: core)
    let difference = facts.difference(from: StepFacts(formerStep, former, from: core))
    return (difference ?? endDifference(of: step, to: next), step.change != nil)
  }

  /// Returns what differs between the ends of a step that both cores make of a failed commit.
  private func endDifference(of step: Step, to next: InstanceCore) -> String? {
    let failure = Result<CommitResult, SDKError>.failure(SDKError(.store, .storeUnavailable, "The disk is full."))
    var (present, former) = (core, core)
    let end = present.settle(step, to: next, failure)
    let formerEnd = former.formerSettle(step, to: next, failure)
    guard end.isTaken == formerEnd.isTaken else { return "one of both takes a step that can't be stored" }
    let facts = StepFacts(Step(error: end.error, effects: end.effects), present, from: core)
    return facts.difference(
      from: StepFacts(Step(error: formerEnd.error, effects: formerEnd.effects), former, from: core))
  }

  /// The inputs that the walks of the machine alone leave out.
  private static func rarer(_ epoch: UInt64) -> [AuthenticationMachine.Input] {
    [
      .signOut(localOnly: true, as: .implicit), .signOut(localOnly: true, as: .guest),
      .signOut(localOnly: true, as: .switch), .signInAccepted(epoch: epoch, prepared: .noUser),
      .itselfFailed(epoch: epoch, SampleErrors.backoff), .answered(epoch: epoch, .failed(SampleErrors.backoff)),
      .credentialUnverifiable(epoch: epoch, SampleErrors.serverError), .verificationFailed(epoch: epoch, limited),
      .itselfFailed(epoch: epoch, limited), .reportFollowedUp(means: .init(itself: true)),
    ]
  }

  private static let limited = SDKError(.unreachable, .rateLimited, "Too many requests.", httpStatus: 429)

  private static func activity(_ core: inout InstanceCore, _ random: inout SeededGenerator) -> RunningActivity {
    var activity = RunningActivity(core.newActivity())
    if Bool.random(using: &random) { activity.offered = credential(of: "bob", core.services[0].recovery.since) }
    let answers: [Bool?] = [nil, true, false]
    activity.sameUser = answers[Int.random(in: 0..<3, using: &random)]
    activity.operation = Bool.random(using: &random) ? "op-c" : nil
    if Bool.random(using: &random) { activity.joined = ["op-d"] }
    let causes: [LogoutCause?] = [nil, .explicit, .deauthorized]
    activity.logout = causes[Int.random(in: 0..<3, using: &random)]
    if Bool.random(using: &random) { activity.events = [.identityChanged] }
    if Bool.random(using: &random) { activity.amendments = [{ $0["amended"] = "yes" }] }
    return activity
  }

  private static func credential(of user: String, _ now: Timestamp?) -> CheckedCredential {
    let now = now ?? ManualClock.start
    return CheckedCredential(
      credential: Credential(token: Secret("\(user)#c"), type: .jwt, obtainedAt: now, expiresAt: now + 300),
      externalId: user, hints: ["a hint"])
  }

  private static func result(_ now: Timestamp, _ random: inout SeededGenerator) -> SignedIn {
    let name = Bool.random(using: &random) ? "alice" : "bob"
    let isAnonymous = Int.random(in: 0..<4, using: &random) == 0
    let user = User(
      id: "v-\(name)", externalId: isAnonymous ? nil : name, authenticationType: isAnonymous ? .sessionToken : .jwt,
      authenticated: !isAnonymous, verified: Bool.random(using: &random))
    let kindStates: [[String: Secret]] = [[:], ["refresh": "r-c"], ["client": "c"], ["asks": "yes"]]
    var result = SignedIn(
      user: Int.random(in: 0..<8, using: &random) == 0 ? .none : user,
      credential: Int.random(in: 0..<6, using: &random) == 0 ? nil : credential(of: name, now).credential,
      kindState: kindStates[Int.random(in: 0..<4, using: &random)])
    if Int.random(in: 0..<6, using: &random) == 0 { result.merge = .init(from: "v-x", to: "v-y", mode: "united") }
    let phases: [AuthenticationMachine.Phase?] = [nil, nil, nil, nil, .anonymous, .authenticated]
    result.prepared = phases[Int.random(in: 0..<6, using: &random)]
    if Bool.random(using: &random) { result.events = [.identityChanged] }
    if Int.random(in: 0..<4, using: &random) == 0 { result.supply = credential(of: name, now) }
    result.isIrreplaceable = Bool.random(using: &random)
    result.isTold = Int.random(in: 0..<4, using: &random) > 0
    result.losesPushes = Bool.random(using: &random)
    if Int.random(in: 0..<3, using: &random) == 0 { result.connection = FakeConnection(user: name) }
    result.hints = Bool.random(using: &random) ? ["another hint"] : []
    return result
  }
}
