import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Wall clocks that are wrong for some time.
struct ClockTests {
  @Test func `A clock that is set back signs the user in again without a call`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      world.setClock()
      try await eventually("a new login is needed") { desk.state == .reauthNeeded }
      world.clock.advance(-30)
      world.setClock()
      try await eventually("the user is signed in again") { desk.state == .authenticated }
      #expect(desk.user.authenticated)
      #expect(desk.cachedAnswer(minTTL: 0, http: false)?.tokenId == TokenID("alice#1@60"))
      #expect(try await world.last(.tokenRefreshed)?.data["tokenId"] == .string("\(TokenID("alice#1@60"))"))
      // The next session probes the revived token at the vendor.
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).visible)
      #expect(world.vendor.calls.last == "probe alice#1@60")
      // The token still expires at its own time.
      world.clock.advance(31)
      try await eventually("it has ended", waking: world.deadlines) { desk.state == .reauthNeeded }
    }
  }

  @Test func `A start with the clock right again signs the user in again`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      #expect(await reason { _ = try await desk.token() } == "reauthNeeded")
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .authenticated)
      #expect(try await desk.token().token == "alice#1@60")
    }
  }

  @Test func `A token that the vendor refused stays refused whatever the clock says`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.vendor.fail(.probe, SampleErrors.refused)
      try await desk.reject(TokenID("alice#1@60"))
      try await eventually("a new login is needed") { desk.state == .reauthNeeded }
      world.setClock()
      #expect(await reason { _ = try await desk.token() } == "reauthNeeded")
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .reauthNeeded)
      #expect(await reason { _ = try await desk.token() } == "reauthNeeded")
    }
  }
}
