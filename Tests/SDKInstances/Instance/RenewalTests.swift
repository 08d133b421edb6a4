import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct RenewalTests {
  @Test func `Fifty who wait share one question`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      let gate = world.bridge.hold(then: "alice#2@600")
      try await withThrowingTaskGroup(of: Token.self) { group in
        for _ in 0..<50 { group.addTask { try await desk.token() } }
        try await eventually("the bridge is asked") { !world.bridge.questions.isEmpty }
        gate.open()
        for try await token in group {
          #expect(token.token == "alice#2@600")
          #expect(!token.stale)
        }
      }
      #expect(world.bridge.questions.count == 1)
      #expect(world.vendor.count(.verify) == 1)
      #expect(try await world.count(.tokenRefreshed) == 1)
      #expect(try await world.count(.authenticationFailed) == 0)
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `A token whose stated expiry has passed is refused, and the present one stays`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.answer("alice#2", expiresAt: world.clock.now - 1)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "providerOutputInvalid")
      try await eventually("it counts against the provider") { world.bridge.rejections == 1 }
      #expect(try await desk.token().token == "alice#1")
    }
  }

  /// Answers of the bridge to a renewal, with the vendor's response to them, and whether they count against the provider.
  private static let judged: [(answer: String, vendor: SDKError?, isUsable: Bool)] = [
    ("alice#2", nil, true), ("alice#2", SampleErrors.network, true), ("alice#2", SampleErrors.refused, true),
    ("bob#2", nil, false),
  ]

  @Test("Each answer of the bridge is judged once, also that of a renewal that a logout overtakes", arguments: judged)
  func judgesAnswers(answer: String, vendor: SDKError?, isUsable: Bool) async throws {
    for overtakes in [false, true] {
      try await World.run { world in
        let desk = try await world.instance()
        try await desk.signIn("alice#1@60")
        world.clock.advance(61)
        let gate = world.bridge.hold(then: answer)
        let holds = overtakes && isUsable
        let hold = holds ? world.vendor.hold(.verify, then: vendor) : nil
        if !holds, let vendor { world.vendor.fail(.verify, vendor) }
        async let token = desk.token().token
        try await eventually("the owner is asked") { world.bridge.questions.count == 1 }
        gate.open()
        if let hold {
          try await eventually("the vendor is asked") { world.vendor.count(.verify) == 1 }
          try await desk.signOut(localOnly: true)
          hold.open()
        }
        _ = try? await token
        try await eventually("the answer is judged") { world.bridge.acceptances + world.bridge.rejections > 0 }
        #expect(world.bridge.acceptances == (isUsable ? 1 : 0))
        #expect(world.bridge.rejections == (isUsable ? 0 : 1))
      }
    }
  }

  @Test func `The question says what is known`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.bridge.answer("alice#2@100", "alice#3@600")
      _ = try await desk.token(minTTL: 90)
      let early = try #require(world.bridge.questions.first)
      #expect(early.name == .getToken)
      #expect(early.user?.externalId == "alice")
      #expect(early.error == nil)
      #expect(early.attempt == 1)
      #expect(early.deadline == ManualClock.start + 60)
      world.clock.advance(101)
      _ = try await desk.token()
      let late = try #require(world.bridge.questions.last)
      #expect(late.name == .invalidAuth)
      #expect(late.error?.reason == .expiredJWT)
    }
  }

  @Test func `When renewal fails and the token lives it is given as stale`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.bridge.fail(SampleErrors.failed)
      let token = try await desk.token(minTTL: 600)
      #expect(token.token == "alice#1@60")
      #expect(token.stale)
      #expect(desk.state == .authenticated)
      #expect(try await world.count(.refreshFailed) == 1)
      #expect(try await world.count(.authenticationFailed) == 0)
      // Within the minimum interval, no second request goes to the bridge.
      #expect(try await desk.token(minTTL: 600).stale)
      #expect(world.bridge.questions.count == 1)
      #expect(try await !desk.token().stale)
    }
  }

  @Test func `A fresh token that lives shorter is short, and starts nothing within the interval`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.bridge.answer("alice#2@70", "alice#3@700")
      let token = try await desk.token(minTTL: 600)
      #expect(token.token == "alice#2@70")
      #expect(token.short == true)
      #expect(!token.fromCache)
      #expect(try await desk.token(minTTL: 600).short == true)
      #expect(world.bridge.questions.count == 1)
      world.clock.advance(6)
      #expect(try await desk.token(minTTL: 600).token == "alice#3@700")
    }
  }

  @Test func `A refresh is new or the error, and the cached token stays`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.bridge.fail(SampleErrors.failed)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: false) } == "providerFailed")
      #expect(try await desk.token().token == "alice#1@60")
      // Within the minimum interval, refreshes share the last result. A caller with control (`resetting`) gets a new
      // one.
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: false) } == "providerFailed")
      #expect(world.bridge.questions.count == 1)
      world.bridge.answer("alice#2@600")
      #expect(try await desk.refresh(timeout: nil, resetting: true).token == "alice#2@600")
      #expect(world.bridge.resets == 1)
      #expect(world.bridge.questions.count == 2)
    }
  }

  @Test func `A refresh without a provider or without a user says so`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "notAuthenticated")
      try await desk.signIn("alice#1")
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "noProvider")
    }
  }

  @Test func `Expiry without a provider is reauthNeeded with exactly one failure`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.clock.advance(60)
      try await eventually("the instance needs a new login", waking: world.deadlines) { desk.state == .reauthNeeded }
      for _ in 0..<3 { #expect(await reason { _ = try await desk.token() } == "reauthNeeded") }
      let session = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(!session.visible)
      #expect(session.reason == .reauthNeeded)
      #expect(session.token == nil)
      #expect(session.user.externalId == "alice")
      #expect(!session.user.authenticated)
      #expect(try await world.count(.authenticationFailed) == 1)
      #expect(try await world.last(.authenticationFailed)?.data["reason"] == "expiredJWT")
      try await desk.signIn("alice#2")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `Expiry with a failing provider is one failure, and a later renewal recovers`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      for _ in 0..<3 {
        world.bridge.fail(SampleErrors.failed)
        #expect(await reason { _ = try await desk.token() } == "providerFailed")
        world.clock.advance(10)
      }
      #expect(desk.state == .reauthNeeded)
      #expect(try await world.count(.authenticationFailed) == 1)
      #expect(try await world.count(.userLoggedOut) == 0)
      world.bridge.answer("alice#2@600")
      #expect(try await desk.token().token == "alice#2@600")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `A denial logs out, wipes and says both`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      try await desk.store(1, for: "note", epoch: nil)
      world.clock.advance(61)
      world.bridge.fail(SampleErrors.denied)
      #expect(await reason { _ = try await desk.token() } == "providerDenied")
      #expect(desk.state == .loggedOut)
      #expect(
        try await world.events().suffix(3) == [.authenticationFailed, .userLoggedOut, .identityWiped])
      #expect(try await world.last(.userLoggedOut)?.data["cause"] == "implicit")
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(await reason { _ = try await desk.token() } == "notAuthenticated")
    }
  }

  @Test func `Refused supplies are asked for with the error and the attempt, until the budget is spent`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.answer("alice#2", "alice#3", "alice#4", "alice#5")
      world.vendor.fail(.verify, SampleErrors.refused, SampleErrors.refused, SampleErrors.refused)
      #expect(await reason { _ = try await desk.token() } == "invalidAuth")
      #expect(world.bridge.questions.map(\.attempt) == [1, 2, 3])
      #expect(world.bridge.questions.last?.error?.httpStatus == 401)
      #expect(desk.state == .loggedOut)
      #expect(try await world.count(.authenticationFailed) == 1)
      #expect(try await world.last(.userLoggedOut)?.data["cause"] == "implicit")
    }
  }

  @Test func `A second supply that is taken recovers without a failure`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.answer("alice#2", "alice#3")
      world.vendor.fail(.verify, SampleErrors.refused)
      #expect(try await desk.token().token == "alice#3")
      #expect(try await world.events().suffix(1) == [.tokenRefreshed])
    }
  }

  @Test func `A token for another user is refused and never shown to the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.answer("bob#1")
      #expect(await reason { _ = try await desk.token() } == "providerTokenForOtherUser")
      #expect(world.vendor.count(.verify) == 0)
      #expect(world.bridge.rejections == 1)
      #expect(desk.state == .reauthNeeded)
      #expect(desk.user.externalId == "alice")
    }
  }

  @Test func `While the vendor is away a checked token is served`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.bridge.answer("alice#2@600")
      world.vendor.fail(.verify, SampleErrors.network)
      #expect(try await desk.token().token == "alice#2@600")
      #expect(try await world.events().suffix(2) == [.tokenRefreshed, .networkError])
    }
  }

  @Test func `A logout during a renewal drops its answer`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      let gate = world.bridge.hold(then: "alice#2@600")
      async let waiting = reason { _ = try await desk.token() }
      try await eventually("the bridge is asked") { world.bridge.questions.count == 1 }
      try await desk.signOut(localOnly: true)
      #expect(await waiting == "notAuthenticated")
      gate.open()
      try await eventually("the answer has come") { await desk.isQuiet }
      #expect(desk.state == .loggedOut)
      #expect(world.vendor.count(.verify) == 0)
      #expect(try await world.store.load().instances.first?.identity?["credential"] == nil)
    }
  }

  @Test(arguments: [(fresh: "alice#2@600", reason: nil), (fresh: "alice#2!@600", reason: "storeUnavailable")])
  func `A renewed token that can't be stored serves from memory, unless it can't be had again`(
    fresh: String, reason expected: String?
  ) async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      let gate = world.vendor.hold(.verify)
      world.bridge.answer(fresh, "alice#3@600")
      async let waiting = reason { _ = try await desk.token() }
      try await eventually("the vendor is asked") { world.vendor.count(.verify) == 1 }
      world.store.failNextCommits(1)
      gate.open()
      #expect(await waiting == expected)
      #expect(try await desk.token().token.reveal() == (expected == nil ? fresh : "alice#3@600"))
    }
  }

  @Test func `Eager instances renew ahead of time, without anybody asking`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["refresh": ["mode": "eager", "jitter": 0]])
      try await desk.signIn("alice#1@600")
      world.bridge.answer("alice#2@6000")
      world.clock.advance(539)
      world.deadlines.wake()
      #expect(world.bridge.questions.isEmpty)
      world.clock.advance(1)
      try await eventually("the token is renewed", waking: world.deadlines) {
        (try? await desk.token().token) == "alice#2@6000"
      }
      #expect(world.bridge.questions.first?.name == .getToken)
    }
  }

  @Test func `A deadline whose change can't be stored waits before it is served again`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.store.failNextCommits(1)
      world.clock.advance(61)
      try await eventually("the change has failed", waking: world.deadlines) { await desk.actor.heldUntil != nil }
      for _ in 0..<20 {
        world.deadlines.wake()
        try await Task.sleep(for: .milliseconds(10))
      }
      #expect(try await world.count(.authenticationFailed) == 0)
      world.clock.advance(6)
      try await eventually("the end is told", waking: world.deadlines) {
        await (try? world.count(.authenticationFailed)) == 1
      }
    }
  }

  @Test(arguments: ["logout", "deletion", "another service", "no provider"])
  func `A reservation ends when there is nothing left to renew`(because cause: String) async throws {
    try await World.run { world in
      let settings: JSONObject = ["refresh": ["mode": "eager", "jitter": 0], "services": ["chat"], "anonymous": false]
      let desk = try await world.instance(settings: settings)
      _ = try await desk.signIn(accepted: {}) { (adapter: FakeAdapter, _, _) in
        try adapter.check("alice#1@600", now: desk.wallClock.now())
      }
      #expect(!world.isFree(world.clock.now + 544.99))
      switch cause {
      case "logout": _ = try await desk.signOut(localOnly: true, accepted: {})
      case "deletion": try await desk.delete()
      default:
        try await desk.redefine { current in
          var next = current
          if cause == "no provider" { next.provider = nil } else { next.settings["services"] = ["cases"] }
          return .init(
            definition: next, adapter: try world.host.adapter(for: next, uuid: desk.uuid),
            provider: try next.providerConfiguration(),
            isOtherBackend: false)
        }
      }
      #expect(world.isFree(world.clock.now + 544.99))
    }
  }

  @Test func `A caller's patience ends, the renewal does not`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      let gate = world.bridge.hold(then: "alice#2@600")
      #expect(await reason { _ = try await desk.token(timeout: 0.001) } == "timeout")
      gate.open()
      #expect(try await desk.token().token == "alice#2@600")
      #expect(world.bridge.questions.count == 1)
    }
  }

  @Test func `Who asks the owner and gives up while a renewal has its turn is let go`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      let gate = world.bridge.hold(then: "alice#2")
      async let renewal = desk.token()
      try await eventually("the bridge is asked") { world.bridge.questions.count == 1 }
      let asking = Task { try await desk.askOwner(.getToken).answer }
      asking.cancel()
      let outcome = await asking.result
      #expect(throws: CancellationError.self) { try outcome.get() }
      gate.open()
      #expect(try await renewal.token == "alice#2")
    }
  }

  @Test func `A question that another login has overtaken is superseded`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.bridge.hold(then: "alice#1")
      async let asked = reason {
        let (answer, epoch) = try await desk.askOwner(.getToken)
        _ = try await desk.signIn(since: epoch, accepted: {}) { (adapter: FakeAdapter, _, _) in
          try adapter.check(try #require(answer.token), now: world.clock.now)
        }
      }
      try await eventually("the owner is asked") { world.bridge.questions.count == 1 }
      try await desk.signIn("bob#1")
      gate.open()
      #expect(await asked == "superseded")
    }
  }

  @Test func `A late renewal that can't be undone in an outage leaves a logout`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.answer("alice#2!")
      let gate = world.vendor.hold(.verify)
      async let renewal = reason { _ = try await desk.refresh(timeout: nil, resetting: true) }
      try await eventually("the token is at the vendor") { world.vendor.count(.verify) == 1 }
      try await desk.signOut(localOnly: true)
      #expect(await renewal != nil)
      world.vendor.fail(.signOut, SampleErrors.network)
      gate.open()
      try await eventually("a logout is pending") {
        desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending?.map(\.purpose) == ["logout"]
      }
    }
  }
}

extension HostedInstance {
  /// Whether no operation is in progress.
  var isQuiet: Bool {
    get async { await actor.core.services.allSatisfy { $0.machine.activity == .idle && $0.running == nil } }
  }
}
