import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Deliveries: requests that the vendor must still get after its user was wiped.
struct DeliveryTests {
  private func pending(_ desk: HostedInstance) -> [Instance.Pending] {
    desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending ?? []
  }

  @Test func `A wipe leaves a delivery that is made in the background and then gone`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.deliver)
      try await desk.signOut(localOnly: true)
      #expect(desk.state == .loggedOut)
      #expect(pending(desk).map(\.purpose) == ["revoke"])
      try await eventually("the vendor is told") { world.vendor.calls.contains("deliver alice#1") }
      gate.open()
      try await eventually("nothing is pending") { pending(desk).isEmpty }
      #expect(try await world.store.load().instances.first?.outbox.isEmpty == true)
    }
  }

  @Test func `An outage is waited out, with growing pauses and across a restart`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.deliver, SampleErrors.network)
      try await desk.signOut(localOnly: true)
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      #expect(pending(desk).first?.nextAttemptAt.map { $0 > world.clock.now } == true)
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      world.clock.advance(3600)
      try await eventually("nothing is pending", waking: world.deadlines) { pending(desk).isEmpty }
      #expect(world.vendor.calls == ["deliver alice#1"])
    }
  }

  @Test func `A login that can be neither stored nor undone leaves a logout, which is stored with a later attempt`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("alice#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      // The disk takes neither the login nor its logout, nor the first attempt to deliver that.
      world.store.failNextCommits(3)
      world.vendor.fail(.signOut, SampleErrors.network)
      world.vendor.fail(.deliver, SampleErrors.network, SampleErrors.network)
      gate.open()
      #expect(await login == "storeUnavailable")
      for attempts in 0...2 {
        try await eventually("\(attempts) attempts were made") {
          world.deadlines.wake()
          return pending(desk).map(\.attempts) == [attempts]
        }
        #expect(try await world.store.load().instances.first?.outbox.count == (attempts < 2 ? 0 : 1))
        world.clock.advance(3600)
      }
      try await eventually("nothing is pending") {
        world.deadlines.wake()
        return pending(desk).isEmpty
      }
      #expect(world.vendor.count(.deliver) == 3)
      #expect(try await world.store.load().instances.first?.outbox.isEmpty == true)
      #expect(desk.state == .noUser)
    }
  }

  @Test func `A clock that is set back delays no delivery`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.deliver, SampleErrors.network)
      try await desk.signOut(localOnly: true)
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      world.clock.advance(-7200)
      world.setClock()
      try await eventually("nothing is pending") {
        world.deadlines.wake()
        return pending(desk).isEmpty
      }
      #expect(world.vendor.count(.deliver) == 2)
    }
  }

  @Test func `A vendor that asks for a pause is left alone for so long`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      var limited = SampleErrors.serverError
      limited.retryAfter = 600
      world.vendor.fail(.deliver, limited)
      try await desk.signOut(localOnly: true)
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      #expect(pending(desk).first?.nextAttemptAt == world.clock.now + 600)
    }
  }

  @Test func `What a new user makes void is not told any more, and not while a login is under way`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true, "farewell_ends": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.deliver, SampleErrors.network)
      try await desk.signOut(localOnly: true)
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      let gate = world.vendor.hold(.signIn)
      async let login = desk.signIn("bob#1")
      try await eventually("the login is at the vendor") { world.vendor.calls.last == "signIn bob#1" }
      world.clock.advance(3600)
      await desk.actor.deadlineReached()
      #expect(pending(desk).first?.attempts == 1)
      gate.open()
      _ = try await login
      #expect(pending(desk).isEmpty)
      #expect(world.vendor.count(.deliver) == 1)
      #expect(try await world.store.load().instances.first?.outbox.isEmpty == true)
    }
  }

  @Test func `A login that fails lets what the former user left be told`() async throws {
    try await World.run(policy: .samples[2]) { world in
      let desk = try await world.instance(
        provider: false, settings: ["farewell": true, "farewell_ends": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.refused)
      world.vendor.fail(.signIn, SampleErrors.refused)
      #expect(await reason { _ = try await desk.signIn("bob#1") } == "invalidAuth")
      try await eventually("the vendor is told") { world.vendor.calls.last == "deliver alice#1" }
    }
  }

  @Test func `A former user whose session the vendor has ended leaves nothing to be told`() async throws {
    try await World.run(policy: .samples[2]) { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      try await desk.signIn("bob#1")
      #expect(pending(desk).isEmpty)
      #expect(world.vendor.calls == ["signIn alice#1", "signOut alice#1", "signIn bob#1"])
    }
  }

  @Test func `A former user who signs in again is not logged out any more, and another one's logout waits`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.deliver, SampleErrors.network, SampleErrors.network)
      try await desk.signIn("bob#1")
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      let first = pending(desk).first?.id
      try await desk.signIn("alice#2")
      #expect(pending(desk).map(\.purpose) == ["logout"])
      #expect(pending(desk).first?.id != first)
      try await eventually("bob's logout was tried") { pending(desk).first?.attempts == 1 }
      #expect(world.vendor.calls.last == "deliver bob#1")
      #expect(desk.user.externalId == "alice")
      world.clock.advance(3600)
      try await eventually("nothing is pending", waking: world.deadlines) { pending(desk).isEmpty }
      #expect(desk.user.externalId == "alice")
    }
  }

  @Test func `What the vendor refuses is given up, and so is what is a day old`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.deliver, SampleErrors.refused)
      try await desk.signOut(localOnly: true)
      try await eventually("nothing is pending") { pending(desk).isEmpty }

      try await desk.signIn("alice#2")
      world.vendor.fail(.deliver, SampleErrors.network, SampleErrors.network)
      try await desk.signOut(localOnly: true)
      try await eventually("one attempt was made") { pending(desk).first?.attempts == 1 }
      world.clock.advance(Delivery.longest + 1)
      try await eventually("nothing is pending", waking: world.deadlines) { pending(desk).isEmpty }
      // Each delivery was attempted once. The second one expired before its retry.
      #expect(world.vendor.count(.deliver) == 2)
    }
  }

  @Test func `A wipe never fails because too much is still to be told: the oldest gives way`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["farewell": true])
      for number in 0..<(StoredOutboxEntry.maximumCount + 5) {
        world.vendor.fail(.deliver, SampleErrors.network)
        world.clock.advance(0.001)
        try await desk.signIn("alice#\(number)")
        try await desk.signOut(localOnly: true)
        #expect(desk.state == .loggedOut)
      }
      #expect(pending(desk).count == StoredOutboxEntry.maximumCount)
      #expect(try await world.store.load().instances.first?.outbox.count == StoredOutboxEntry.maximumCount)
    }
  }
}
