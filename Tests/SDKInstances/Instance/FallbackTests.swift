import DelegateBridge
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// SDKs that continue as an anonymous visitor when the user can't be authenticated.
struct FallbackTests {
  private func told(_ world: World) async throws -> [EventType] {
    try await world.events().filter { $0 == .authenticationFailed || $0 == .fellBackToAnonymous }
  }

  private func degraded(_ desk: HostedInstance) -> String? {
    desk.shape(secretSettings: [], isAdmin: true, conceals: false).degraded
  }

  @Test func `A first failure falls back and says so, and a later success ends it`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      #expect(world.vendor.calls.isEmpty)
      world.vendor.fail(.verify, SampleErrors.forbidden)
      let session = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(session.visible)
      #expect(session.token == nil)
      #expect(session.user == .none)
      #expect(degraded(desk) == "anonymousFallback")
      #expect(try await told(world) == [.authenticationFailed, .fellBackToAnonymous])
      world.bridge.answer("alice#2")
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token?.token == "alice#2")
      #expect(degraded(desk) == nil)
      #expect(try await told(world).count == 2)
    }
  }

  @Test func `An identity that is set again does not end the fallback by itself`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      world.bridge.answer("alice#2")
      world.vendor.fail(.verify, SampleErrors.forbidden)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "forbidden")
      #expect(desk.user.externalId == "alice")
      world.vendor.fail(.open, SampleErrors.refused)
      world.bridge.fail(SampleErrors.failed)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).user == .none)
      try await desk.signIn("alice#3~")
      #expect(desk.user == .none)
      #expect(degraded(desk) == "anonymousFallback")
    }
  }

  @Test func `A refusal is told although nobody is there to be asked for another credential`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1~")
      world.vendor.fail(.verify, SampleErrors.refused)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token == nil)
      #expect(try await world.last(.fellBackToAnonymous)?.data["reason"] == "invalidAuth")
      // No credential is left to try, so another session emits no further event.
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(try await told(world).count == 2)
    }
  }

  @Test func `What the vendor has not looked at is tried again`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1~")
      world.vendor.fail(.verify, SampleErrors.serverError)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token == nil)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token?.token == "alice#1~")
      #expect(world.vendor.count(.verify) == 2)
    }
  }

  @Test func `What was brought for a user who is gone signs nobody in`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1~")
      try await desk.signOut(localOnly: true)
      #expect(await reason { _ = try await desk.token() } == "notAuthenticated")
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).user.externalId == nil)
      #expect(world.vendor.count(.verify) == 0)
    }
  }

  @Test func `That nobody is there to be asked is told once`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1~")
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      world.vendor.fail(.open, SampleErrors.refused)
      for _ in 0..<3 { #expect(try await desk.openSession(minTTL: 0, timeout: nil).token == nil) }
      #expect(try await told(world) == [.authenticationFailed, .fellBackToAnonymous])
    }
  }

  @Test func `A breaker that holds back tells nothing new, but a fall is always told`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      world.vendor.fail(.open, SampleErrors.refused)
      world.bridge.fail(SampleErrors.backoff, SampleErrors.backoff)
      for _ in 0..<2 { #expect(try await desk.openSession(minTTL: 0, timeout: nil).token == nil) }
      #expect(try await told(world) == [.authenticationFailed, .fellBackToAnonymous])
    }
  }

  @Test func `A credential that is refused when the session opens is renewed once`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      world.vendor.fail(.open, SampleErrors.refused)
      world.bridge.answer("alice#2")
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token?.token == "alice#2")
      #expect(world.bridge.questions.map(\.name) == [.invalidAuth])
      #expect(try await told(world).isEmpty)
      world.vendor.fail(.open, SampleErrors.refused, SampleErrors.refused)
      world.bridge.answer("alice#3")
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).token == nil)
      #expect(world.bridge.questions.count == 2)
      #expect(try await told(world) == [.authenticationFailed, .fellBackToAnonymous])
    }
  }

  @Test func `A credential that is reported right after its exchange is renewed, and the next one not so soon`()
    async throws
  {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      world.bridge.answer("alice#2")
      try await desk.reject(try await desk.token().tokenId)
      let second = try await desk.token()
      #expect(second.token == "alice#2")
      try await desk.reject(second.tokenId)
      #expect(await reason { _ = try await desk.token() } == "providerBackoff")
      #expect(world.bridge.questions.count == 1)
    }
  }

  @Test func `A vendor that can't be reached when the session opens is told`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1~")
      world.vendor.fail(.open, SampleErrors.network)
      #expect(await reason { _ = try await desk.openSession(minTTL: 0, timeout: nil) } == "network")
      #expect(try await world.count(.networkError) == 1)
      #expect(desk.state == .authenticated)
    }
  }
}
