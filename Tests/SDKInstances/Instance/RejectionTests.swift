import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct RejectionTests {
  @Test func `A rejected token is given to nobody until it was renewed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.bridge.hold(then: "alice#2")
      try await desk.reject(TokenID("alice#1"))
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      async let waiting = desk.token()
      gate.open()
      #expect(try await waiting.token == "alice#2")
      #expect(try await world.count(.userLoggedOut) == 0)
    }
  }

  @Test func `Without a provider the vendor is asked, and a token that it knows is given again`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      try await desk.reject(TokenID("alice#1"))
      #expect(try await desk.token().token == "alice#1")
      #expect(world.vendor.calls == ["signIn alice#1", "probe alice#1"])
    }
  }

  @Test func `A token that the vendor refuses too needs a new login`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      world.vendor.fail(.probe, SampleErrors.refused)
      try await desk.reject(TokenID("alice#1"))
      try await eventually("a new login is needed") { desk.state == .reauthNeeded }
      #expect(try await world.count(.authenticationFailed) == 1)
      #expect(try await world.count(.userLoggedOut) == 0)
    }
  }

  @Test func `A failing provider leads to a probe, which gives the token back`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.fail(SampleErrors.failed)
      try await desk.reject(TokenID("alice#1"))
      #expect(try await desk.token().token == "alice#1")
      #expect(world.vendor.calls.last == "probe alice#1")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `A rejected token is given to nobody although the renewal can't be stored`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["renews": true])
      try await desk.signIn("alice#1")
      try await desk.amend { $0["refresh"] = "r" }
      world.store.failNextCommits(1)
      try await desk.reject(TokenID("alice#1"))
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
    }
  }

  @Test func `A token id that is not current is ignored`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.reject(TokenID("alice#0"))
      #expect(desk.cachedAnswer(minTTL: 0, http: false) != nil)
      #expect(world.bridge.questions.isEmpty)
      let empty = try await world.instance("empty")
      try await empty.reject(TokenID("alice#1"))
    }
  }

  @Test func `An app that rejects every token starts one renewal in the interval`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.answer("alice#2", "alice#3")
      try await desk.reject(TokenID("alice#1"))
      #expect(try await desk.token().token == "alice#2")
      try await desk.reject(TokenID("alice#2"))
      let refusal = await #expect(throws: SDKError.self) { try await desk.token() }
      #expect(refusal?.reason == .providerBackoff && refusal?.retryAfter == 5)
      #expect(refusal?.message.hasSuffix("(refresh.min_interval); try again in 5s.") == true)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: false) } == "providerBackoff")
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      #expect(world.bridge.questions.count == 1)
      world.clock.advance(6)
      #expect(try await desk.token().token == "alice#3")
    }
  }

  @Test func `An app that rejects a probed token starts one probe in the interval`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      try await desk.reject(TokenID("alice#1"))
      _ = try await desk.token()
      try await desk.reject(TokenID("alice#1"))
      #expect(await reason { _ = try await desk.token() } == "providerBackoff")
      #expect(world.vendor.count(.probe) == 1)
      world.clock.advance(6)
      #expect(try await desk.token().token == "alice#1")
      #expect(world.vendor.count(.probe) == 2)
    }
  }

  @Test func `A probe that nobody answered is repeated when somebody asks`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      world.vendor.fail(.probe, SampleErrors.network)
      try await desk.reject(TokenID("alice#1"))
      try await eventually("the probe has ended") { await desk.isQuiet }
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      world.clock.advance(6)
      #expect(try await desk.token().token == "alice#1")
    }
  }
}
