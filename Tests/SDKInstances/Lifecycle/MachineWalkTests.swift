import Randomness
import SDKProtocol
import Testing

@testable import SDKInstances

struct MachineWalkTests {
  typealias Machine = AuthenticationMachine

  /// The phases and credential states that an instance can have when the daemon starts.
  private static let starts: [(Machine.Phase, Machine.Standing)] = [
    (.noUser, .none), (.loggedOut, .none), (.anonymous, .usable), (.authenticated, .usable), (.reauthNeeded, .expired),
    (.reauthNeeded, .refused), (.locked, .none), (.locked, .refused),
  ]

  @Test(arguments: AuthenticationPolicy.samples)
  func `Every reachable state keeps every rule for every input`(policy: AuthenticationPolicy) async {
    var reached: Set<Machine> = []
    var waiting = Self.starts.map { Machine(phase: $0.0, standing: $0.1, epoch: 10, policy: policy) }
    var broken: [String: (Machine, Machine.Input)] = [:]
    while let machine = waiting.popLast() {
      guard reached.insert(machine).inserted else { continue }
      // Other tests need the same threads.
      await Task.yield()
      for input in Machine.Input.all(epochs: [9, 10, 11]) {
        let step = MachineRules(machine, input)
        for rule in step.broken() where broken[rule] == nil { broken[rule] = (machine, input) }
        var next = step.after
        // Only whether a result's epoch is current matters, so all states get the same epoch.
        next.epoch = 10
        waiting.append(next)
      }
    }
    #expect(reached.count > 40)
    #expect(Set(reached.map(\.phase)).count == Machine.Phase.allCases.count)
    for (rule, (machine, input)) in broken {
      Issue.record("\(rule): \(machine.phase), \(machine.standing), \(machine.activity), input \(input)")
    }
  }

  @Test(arguments: AuthenticationPolicy.samples, [1, 2, 3, 4] as [UInt64])
  func `Long walks end every activity once and never exceed the budget`(
    policy: AuthenticationPolicy, seed: UInt64
  ) async {
    var random = SeededGenerator(seed: seed)
    var walk = MachineWalk(Machine(phase: .noUser, standing: .none, epoch: 0, policy: policy))
    for number in 0..<5000 {
      if number.isMultiple(of: 50) { await Task.yield() }
      walk.step(&random)
      guard walk.broken.isEmpty else { break }
    }
    walk.drain(&random)
    #expect(walk.broken == [])
    #expect(walk.machine.activity == .idle)
    #expect(walk.ended == walk.begun)
    #expect(walk.begun > 100)
  }
}

/// A machine in a simulated environment. The results of its actions arrive later, in any order, perhaps too late.
struct MachineWalk {
  typealias Machine = AuthenticationMachine

  private(set) var machine: Machine
  private(set) var begun = 0
  private(set) var ended = 0
  private(set) var broken: [String] = []
  private var results: [[Machine.Input]] = []
  private var asked = 0

  init(_ machine: Machine) { self.machine = machine }

  mutating func step(_ random: inout SeededGenerator) {
    if !results.isEmpty, Bool.random(using: &random) {
      let index = Int.random(in: 0..<results.count, using: &random)
      take(results.remove(at: index).randomElement(using: &random) ?? .renew(.bridge))
    } else {
      let fresh = Machine.Input.all(epochs: []).filter { $0 != .wipeFailed }
      take(fresh.randomElement(using: &random) ?? .renew(.bridge))
    }
  }

  mutating func drain(_ random: inout SeededGenerator) {
    while let last = results.popLast() { take(last.randomElement(using: &random) ?? .renew(.bridge)) }
  }

  private mutating func take(_ input: Machine.Input) {
    let step = MachineRules(machine, input)
    broken += step.broken().map { "\($0): \(machine.phase), \(machine.standing), \(machine.activity), input \(input)" }
    let wasIdle = machine.activity == .idle
    machine = step.after
    count(input, step.actions, wasIdle: wasIdle)
    for action in step.actions { begin(action) }
  }

  private mutating func count(_ input: Machine.Input, _ actions: [Machine.Action], wasIdle: Bool) {
    let closed = actions.count { action in
      if case .finish = action { return true }
      return action == .supersede
    }
    ended += closed
    switch input {
    case .signIn, .signOut: begun += 1
    default: if wasIdle, machine.activity != .idle || closed > 0 { begun += 1 }
    }
    if wasIdle || actions.contains(.supersede) { asked = 0 }
    asked += actions.count { if case .ask = $0 { true } else { false } }
    if asked > machine.policy.maxAttempts { broken.append("asked more often than the budget") }
  }

  private mutating func begin(_ action: Machine.Action) {
    let epoch = machine.epoch
    let vendor: [SDKError] = [SampleErrors.refused, SampleErrors.network, SampleErrors.forbidden]
    switch action {
    case .exchange: results.append([.signInAccepted(epoch: epoch)] + vendor.map { .signInFailed(epoch: epoch, $0) })
    case .endFormer: results.append([.formerEnded(epoch: epoch), .formerEndFailed(epoch: epoch, SampleErrors.network)])
    case .endSession: results.append([.signOutAccepted(epoch: epoch)] + vendor.map { .signOutFailed(epoch: epoch, $0) })
    case .createAnonymous:
      results.append([.anonymousAccepted(epoch: epoch), .anonymousFailed(epoch: epoch, vendor[1])])
    case .ask:
      results.append([
        .answered(epoch: epoch, .credential), .answered(epoch: epoch, .credential),
        .answered(epoch: epoch, .failed(SampleErrors.failed)), .answered(epoch: epoch, .denied(SampleErrors.denied)),
      ])
    case .verify:
      results.append([
        .credentialAccepted(epoch: epoch), .credentialRefused(epoch: epoch, vendor[0]),
        .credentialRefused(epoch: epoch, vendor[0]), .credentialUnverifiable(epoch: epoch, vendor[1]),
        .verificationFailed(epoch: epoch, vendor[2]),
      ])
    case .probe:
      results.append([
        .probed(epoch: epoch, .accepted), .probed(epoch: epoch, .refused(vendor[0])),
        .probed(epoch: epoch, .unanswered(vendor[1])),
      ])
    case .renewItself:
      results.append([
        .renewedItself(epoch: epoch), .itselfRefused(epoch: epoch, vendor[0], means: .bridge),
        .itselfRefused(epoch: epoch, vendor[0], means: .none), .itselfFailed(epoch: epoch, vendor[1]),
      ])
    case .confirm:
      results.append([
        .confirmed(epoch: epoch, .proceed), .confirmed(epoch: epoch, .declined(vendor[0])),
        .confirmed(epoch: epoch, .failed(SampleErrors.failed)),
      ])
    default: return
    }
  }
}
