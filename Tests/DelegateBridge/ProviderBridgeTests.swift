import JSONRPC
import SDKProtocol
import Synchronization
import Testing

@testable import DelegateBridge

@Suite struct ProviderBridgeTests {
  /// A fixture for a bridge, with a clock that moves only when a test advances it.
  private final class World: Sendable {
    let provider = FakeProvider()
    let uptime = Mutex(Duration.seconds(1000))
    let changes = Mutex<[String]>([])
    let runs = Mutex<[EndedRun]>([])

    func bridge(sources: [any AnswerSource] = [], limits: SlotLimits = SlotLimits()) -> ProviderBridge {
      var time = BridgeTime()
      time.uptime = { self.uptime.withLock { $0 } }
      time.chance = { 1 }
      return ProviderBridge(
        options: BridgeOptions(limits: limits, environment: [:], sweeps: false), sources: sources,
        time: time,
        onBreakerChange: { key, opened in
          self.changes.withLock { $0.append("\(key) \(opened ? "opened" : "closed")") }
        },
        onRun: { run in self.runs.withLock { $0.append(run) } }
      ) { [provider] _ in provider }
    }

    func pass(_ seconds: Double) { uptime.withLock { $0 += .seconds(seconds) } }
  }

  private struct Source: AnswerSource {
    var answer: BridgeAnswer?
    var error: SDKError?
    func attachedCount(of key: BridgeKey) -> Int { 2 }
    func answer(
      _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
    ) async throws(SDKError) -> BridgeAnswer? {
      if let error { throw error }
      return answer
    }
  }

  private final class SwitchableSource: AnswerSource {
    private let state = Mutex((answer: Result<BridgeAnswer?, SDKError>.success(nil), waits: [Bool](), forgotten: 0))
    var waits: [Bool] { state.withLock { $0.waits } }
    var forgotten: Int { state.withLock { $0.forgotten } }
    func set(_ answer: Result<BridgeAnswer?, SDKError>) { state.withLock { $0.answer = answer } }
    func attachedCount(of key: BridgeKey) -> Int { 1 }
    func answer(
      _ question: BridgeQuestion, of key: BridgeKey, waits: Bool
    ) async throws(SDKError) -> BridgeAnswer? {
      try state.withLock { state in
        state.waits.append(waits)
        return state.answer
      }.get()
    }
    func forget(_ key: BridgeKey) { state.withLock { $0.forgotten += 1 } }
  }

  @Test("The deadline that a provider reads is the end of its run")
  func deadline() async throws {
    _ = try await ask(world.bridge(), ProviderConfiguration(json: #"{"command":["/p"],"timeout":"2s"}"#))
    let asked = try JSONParser.parse(world.provider.input)
    let deadline = try #require(asked["deadline"]?.stringValue.flatMap { Timestamp($0) })
    #expect(deadline - .now <= 2)
  }

  private static let pass = BridgeAnswer(members: ["defer": true])
  private let world = World()
  private let key = BridgeKey(instance: "uuid", service: "main")
  private let program = ProviderConfiguration(command: ["/p"])

  private func ask(
    _ bridge: ProviderBridge, provider: ProviderConfiguration? = ProviderConfiguration(command: ["/p"]),
    within seconds: Double = 60
  ) async throws -> BridgeAnswer {
    try await bridge.ask(.sample(within: seconds), of: key, provider: provider, owner: 1)
  }

  private func ask(
    _ bridge: ProviderBridge, _ provider: ProviderConfiguration?
  ) async throws(SDKError) -> BridgeAnswer {
    guard let question = try? BridgeQuestion.sample() else { throw Self.failed }
    return try await bridge.ask(question, of: key, provider: provider, owner: 1)
  }

  private func reason(_ bridge: ProviderBridge, within seconds: Double = 60) async -> Reason? {
    do {
      _ = try await ask(bridge, within: seconds)
      return nil
    } catch {
      return (error as? SDKError)?.reason
    }
  }

  @Test func answersAndSaysHow() async throws {
    let bridge = world.bridge()
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed))
    #expect(try await ask(bridge).token == Secret("token-of-/p"))
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed, lastExit: "0"))
  }

  @Test func runsAreHeardWithHowTheyEnded() async throws {
    let bridge = world.bridge()
    _ = try await ask(bridge)
    world.provider.end("/p", with: .signalled(9))
    _ = await reason(bridge)
    // The breaker is open, so nothing runs and no run is reported.
    _ = await reason(bridge)
    let runs = world.runs.withLock { $0 }
    #expect(runs.map(\.exit) == ["0", "signal 9"])
    #expect(runs.map(\.failure) == [nil, .providerFailed])
    #expect(runs.allSatisfy { $0.key == key && $0.program == "/p" && $0.owner == 1 && $0.question == .getToken })
    #expect(runs.map(\.instance.name) == ["front-desk", "front-desk"])
  }

  @Test func noProvider() async throws {
    let error = await #expect(throws: SDKError.self) { try await ask(world.bridge(), provider: nil) }
    #expect(error?.reason == .noProvider)
    #expect(error?.instance?.name == "front-desk")
  }

  @Test(arguments: [
    (ProviderEnding.exited(75), Reason.providerFailed, "75", true), (.exited(77), .providerDenied, "77", false),
    (.exited(1), .providerFailed, "1", true), (.signalled(9), .providerFailed, "signal 9", true),
    (.timedOut, .providerTimeout, "timeout", true), (.tooMuchOutput, .providerOutputInvalid, "output", true),
    (.notStarted("It is missing."), .providerFailed, "notStarted", true),
    (.notAllowed("It is writable."), .providerNotAllowed, "notAllowed", false),
  ]) func endings(ending: ProviderEnding, reason: Reason, lastExit: String, opens: Bool) async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: ending)
    #expect(await self.reason(bridge) == reason)
    #expect(bridge.status(of: key).lastExit == lastExit)
    #expect(bridge.status(of: key).state == (opens ? .open : .closed))
    #expect(world.changes.withLock { $0 } == (opens ? ["uuid/main opened"] : []))
  }

  @Test func breakerStopsRunsAndSaysUntilWhen() async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: .exited(1))
    #expect(await reason(bridge) == .providerFailed)
    let error = await #expect(throws: SDKError.self) { try await ask(bridge) }
    #expect(error?.reason == .providerBackoff)
    #expect(error?.retryAfter == 1)
    let next = try #require(bridge.status(of: key).nextAttemptAt)
    #expect(abs(next - .now - 1) < 10)
    #expect(world.provider.runs.count == 1)
    world.pass(1)
    #expect(bridge.status(of: key).state == .halfOpen)
    #expect(await reason(bridge) == .providerFailed)
    world.pass(1.75)
    #expect(await reason(bridge) == .providerBackoff, "the delay has doubled")
    world.pass(0.25)
    world.provider.end("/p", with: nil)
    #expect(await reason(bridge) == nil)
    #expect(bridge.status(of: key).state == .closed)
    #expect(world.changes.withLock { $0 } == ["uuid/main opened"], "the answer may yet be rejected")
    bridge.accept(key)
    #expect(world.changes.withLock { $0 } == ["uuid/main opened", "uuid/main closed"])
  }

  @Test("A breaker closes at once when the provider declines", arguments: [nil, .exited(77)] as [ProviderEnding?])
  func declines(ending: ProviderEnding?) async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: .exited(1))
    _ = await reason(bridge)
    world.pass(1)
    world.provider.end("/p", with: ending)
    world.provider.write("/p", "{\"defer\": true}")
    _ = await reason(bridge)
    #expect(world.changes.withLock { $0 } == ["uuid/main opened", "uuid/main closed"])
  }

  @Test func otherInstancesAreNotStopped() async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: .exited(1))
    _ = await reason(bridge)
    let other = try await bridge.ask(
      .sample(), of: .numbered(2), provider: ProviderConfiguration(command: ["/q"]), owner: 1)
    #expect(other.token == Secret("token-of-/q"))
  }

  @Test func controlResetsTheBreaker() async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: .exited(1))
    _ = await reason(bridge)
    bridge.reset(key)
    #expect(bridge.status(of: key).state == .closed)
    #expect(await reason(bridge) == .providerFailed)
    #expect(world.provider.runs.count == 2)
  }

  @Test(
    "The error of a run that was ended names the setting that ended it",
    arguments: [(60, "provider.timeout"), (5, "refresh.deadline")] as [(Double, String)])
  func endedRuns(seconds: Double, setting: String) async throws {
    world.provider.end("/p", with: .timedOut)
    let error = await #expect(throws: SDKError.self) { try await ask(world.bridge(), within: seconds) }
    #expect(error?.message.contains(setting) == true, "\(error?.message ?? "")")
  }

  @Test func rejectedAnswerCountsAsFailure() async throws {
    let bridge = world.bridge()
    _ = try await ask(bridge)
    bridge.reject(key)
    #expect(bridge.status(of: key).state == .open)
    #expect(bridge.status(of: key).lastExit == "output")
    #expect(await reason(bridge) == .providerBackoff)
    world.pass(1)
    _ = try await ask(bridge)
    bridge.reject(key)
    #expect(world.changes.withLock { $0 } == ["uuid/main opened"], "it was never closed")
  }

  @Test func forgottenInstanceStartsAnew() async throws {
    let bridge = world.bridge()
    world.provider.end("/p", with: .exited(1))
    _ = await reason(bridge)
    bridge.forget(key)
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed))
    bridge.reject(key)
    bridge.reset(key)
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed), "what is unknown stays unknown")
  }

  @Test func delegatesAreAskedFirst() async throws {
    let answer = BridgeAnswer(token: Secret("delegate's"))
    let pass = BridgeAnswer(members: ["defer": true])
    let first = world.bridge(sources: [Source(), Source(answer: pass), Source(answer: answer)])
    #expect(try await ask(first) == answer)
    #expect(first.status(of: key).attached == 6)
    #expect(first.hasDelegate(key))
    #expect(!world.bridge().hasDelegate(key))
    #expect(world.provider.runs.isEmpty)
    let passed = world.bridge(sources: [Source()])
    #expect(try await ask(passed).token == Secret("token-of-/p"))
    let denied = world.bridge(sources: [Source(error: .denied("the app says so"))])
    #expect(await reason(denied) == .providerDenied)
  }

  private static let failed = SDKError(.provider, .providerFailed, "The delegate failed.")

  @Test func failingDelegatesPassTheQuestionOn() async throws {
    let bridge = world.bridge(sources: [Source(error: Self.failed)])
    #expect(try await ask(bridge).token == Secret("token-of-/p"))
    let alone = world.bridge(sources: [Source(error: Self.failed), Source(answer: Self.pass)])
    let error = await #expect(throws: SDKError.self) { try await ask(alone, provider: nil) }
    #expect(error?.reason == .providerFailed)
    #expect(error?.rpcError.isRetryable == true)
    #expect(error?.instance?.name == "front-desk")
    let deferring = world.bridge(sources: [Source(answer: Self.pass)])
    #expect(await failure { () throws(SDKError) in try await self.ask(deferring, nil) }?.reason == .noProvider)
    let gone = world.bridge(sources: [Source(error: SDKError(.limit, .shuttingDown, "Nobody asks."))])
    #expect(await reason(gone) == .shuttingDown)
  }

  @Test func aProviderThatDefersLeavesItToTheDelegateThatFailed() async throws {
    let bridge = world.bridge(sources: [Source(error: Self.failed)])
    world.provider.write("/p", "{\"defer\": true}")
    #expect(await reason(bridge) == .providerFailed)
    #expect(await reason(world.bridge()) == .noProvider)
  }

  @Test func theBreakerIsTheProvidersAlone() async throws {
    let answers = SwitchableSource()
    let bridge = world.bridge(sources: [answers])
    world.provider.end("/p", with: .exited(1))
    answers.set(.failure(Self.failed))
    #expect(await reason(bridge) == .providerFailed)
    #expect(bridge.status(of: key).state == .open, "the provider ran and failed")
    answers.set(.success(BridgeAnswer(token: Secret("delegate's"))))
    #expect(try await ask(bridge).token == Secret("delegate's"))
    bridge.reset(key)
    _ = try await ask(bridge)
    bridge.reject(key)
    #expect(bridge.status(of: key).state == .closed, "a delegate's useless answer says nothing about the provider")
    answers.set(.failure(Self.failed))
    world.provider.end("/p", with: nil)
    _ = try await ask(bridge)
    bridge.reject(key)
    #expect(bridge.status(of: key).state == .open)
  }

  @Test func onlyWithoutAProviderIsSomebodyWaitedFor() async throws {
    let source = SwitchableSource()
    let bridge = world.bridge(sources: [source])
    _ = await reason(bridge)
    _ = await failure { () throws(SDKError) in try await self.ask(bridge, nil) }
    bridge.forget(key)
    #expect(source.waits == [false, true])
    #expect(source.forgotten == 1)
  }

  @Test(arguments: [-1, 0, 0.3]) func runThatCouldNotEndInTimeIsNotBegun(left: Double) async throws {
    let bridge = world.bridge()
    #expect(await reason(bridge, within: left) == .providerTimeout)
    #expect(world.provider.runs.isEmpty)
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed), "that is not the provider's failure")
  }

  @Test("A run that waits for a slot uses the options of a reload during the wait")
  func reloadDuringTheWait() async throws {
    let limits = SlotLimits(concurrent: 1, slow: .seconds(600))
    let bridge = world.bridge(limits: limits)
    world.provider.hang("/p")
    try await withThrowingTaskGroup(of: Reason?.self) { group in
      let first = Task { await reason(bridge) }
      #expect(await eventually { world.provider.current == 1 })
      let other = BridgeKey(instance: "other", service: nil)
      let question = try BridgeQuestion.sample()
      group.addTask {
        do throws(SDKError) {
          _ = try await bridge.ask(question, of: other, provider: ProviderConfiguration(command: ["/q"]), owner: 1)
          return nil
        } catch {
          return error.reason
        }
      }
      #expect(await eventually { bridge.standing.waiting == 1 })
      bridge.use(BridgeOptions(commands: false, limits: limits, environment: [:], sweeps: false))
      first.cancel()
      #expect(await first.value == .shuttingDown)
      #expect(try await group.next() == .some(.providerNotAllowed))
    }
    #expect(world.provider.runs == ["/p"])
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed))
  }

  @Test func cancelledQuestionLeavesNoTrace() async throws {
    let bridge = world.bridge()
    world.provider.hang("/p")
    await withTaskGroup(of: Reason?.self) { group in
      group.addTask { await reason(bridge) }
      #expect(await eventually { world.provider.current == 1 })
      group.cancelAll()
      #expect(await group.next() == .some(.shuttingDown))
    }
    #expect(bridge.status(of: key) == Instance.Bridge(state: .closed))
  }
}
