import SDKProtocol
import Testing

@testable import SDKInstances

struct OutageTests {
  @Test func `An outage is told once a minute while it lasts`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for _ in 0..<3 {
        world.vendor.fail(.signIn, SampleErrors.network)
        #expect(await reason { try await desk.signIn("alice#1") } == "network")
        world.clock.advance(10)
      }
      #expect(try await world.count(.networkError) == 1)
      world.clock.advance(40)
      world.vendor.fail(.signIn, SampleErrors.serverError)
      _ = await reason { try await desk.signIn("alice#1") }
      #expect(try await world.count(.networkError) == 2)
      try await desk.signIn("alice#1")
      world.vendor.fail(.signIn, SampleErrors.network)
      _ = await reason { try await desk.signIn("alice#2") }
      #expect(try await world.count(.networkError) == 3)
      #expect(try await world.count(.authenticationFailed) == 0)
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `A refusal ends an outage as a success does`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for failure in [SampleErrors.network, SampleErrors.refused, SampleErrors.network] {
        world.vendor.fail(.signIn, failure)
        #expect(await reason { try await desk.signIn("alice#1") } == failure.reason.rawValue)
      }
      #expect(try await world.count(.networkError) == 2)
    }
  }
}
