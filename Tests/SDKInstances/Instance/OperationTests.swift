import Concurrency
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Logins and logouts whose callers don't wait: each ends with one event that names its operation.
struct OperationTests {
  private static let policy = {
    var policy = AuthenticationPolicy(
      onDenied: .keep, onBudgetSpent: .keep, onAnotherUser: .wipeOnSuccess, maxAttempts: 3)
    policy.tellsLogoutFailure = true
    return policy
  }()

  private func begin(
    _ desk: HostedInstance, _ token: Secret, as operation: String
  ) async throws -> HostedInstance.PendingSignIn {
    try await desk.beginSignIn(operation: operation, settling: { $0.user.name = "settled" }) {
      (adapter: FakeAdapter, identity, isUsable) in
      let checked = try adapter.check(token, now: desk.wallClock.now())
      return isUsable && token == identity.credential?.token ? nil : checked
    }
  }

  @Test func `The watchdog sees a change that never ends`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      await desk.answer()
      await desk.actor.changing.lock()
      let answered = Records<Bool>()
      let probe = Task {
        await desk.answer()
        answered.add(true)
      }
      try await Task.sleep(for: .milliseconds(200))
      #expect(answered.count == 0)
      probe.cancel()
      await probe.value
      desk.actor.changing.unlock()
    }
  }

  private func logout(_ desk: HostedInstance, as operation: String) async -> String? {
    await reason {
      try await desk.signOut(operation: operation, requiringUser: .userNotAuthorized, accepted: {})(nil)
    }
  }

  private func outcomes(_ world: World, of operation: String) async throws -> [StoredEvent] {
    try await world.store.events(after: 0, limit: 1000).filter { $0.operation == operation }
  }

  private func pending(_ desk: HostedInstance) -> [Instance.Pending] {
    desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending ?? []
  }

  @Test func `A login that can't be stored is not accepted`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1)
      #expect(await reason { _ = try await begin(desk, "bob#1", as: "op-2") } == "storeUnavailable")
      #expect(world.vendor.calls == ["signIn alice#1"])
      #expect(try await outcomes(world, of: "op-2").isEmpty)
    }
  }

  @Test func `Every login has its outcome, also in an outage that was told already`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      world.vendor.fail(.signIn, SampleErrors.network, SampleErrors.network, SampleErrors.refused)
      for (operation, type) in [
        ("op-1", EventType.networkError), ("op-2", .networkError), ("op-3", .authenticationFailed),
        ("op-4", .userLoggedIn),
      ] {
        let pending = try await begin(desk, "alice#1", as: operation)
        _ = await reason { _ = try await desk.finish(pending) }
        #expect(try await outcomes(world, of: operation).map(\.type) == [type])
      }
    }
  }

  @Test func `The same login while it is under way is one, with an outcome for each caller`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      let first = try await begin(desk, "alice#1", as: "op-1")
      let second = try await begin(desk, "alice#1", as: "op-2")
      gate.open()
      #expect(try await desk.finish(first).user.externalId == "alice")
      #expect(try await desk.finish(second).user.externalId == "alice")
      #expect(world.vendor.calls == ["signIn alice#1"])
      for operation in ["op-1", "op-2"] {
        #expect(try await outcomes(world, of: operation).map(\.type) == [.userLoggedIn])
      }
    }
  }

  @Test func `A login in progress is joined by a limited number of callers`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      let first = try await begin(desk, "alice#1", as: "op-0")
      for number in 1...InstanceCore.maximumJoined { _ = try await begin(desk, "alice#1", as: "op-\(number)") }
      #expect(await reason { _ = try await begin(desk, "alice#1", as: "op-65") } == "rateLimit")
      gate.open()
      #expect(try await desk.finish(first).user.externalId == "alice")
      #expect(try await world.count(.userLoggedIn) == InstanceCore.maximumJoined + 1)
    }
  }

  @Test func `A login that has superseded another and can't be stored has not happened`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gates = [world.vendor.hold(.signIn), world.vendor.hold(.signIn)]
      _ = try await begin(desk, "alice#1", as: "op-1")
      let pending = try await begin(desk, "bob#1", as: "op-2")
      try await eventually("both are at the vendor") { world.vendor.count(.signIn) == 2 }
      world.store.failNextCommits(1)
      for gate in gates { gate.open() }
      #expect(await reason { _ = try await desk.finish(pending) } == "storeUnavailable")
      #expect(desk.state == .noUser)
      #expect(try await world.count(.userLoggedIn) == 0)
    }
  }

  @Test func `What a newer login or logout supersedes hears of it`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gates = [world.vendor.hold(.signIn), world.vendor.hold(.signIn)]
      _ = try await begin(desk, "alice#1", as: "op-1")
      _ = try await begin(desk, "bob#1", as: "op-2")
      #expect(await logout(desk, as: "op-3") == nil)
      for gate in gates { gate.open() }
      for operation in ["op-1", "op-2"] {
        let told = try await outcomes(world, of: operation)
        #expect(told.map(\.type) == [.loginSuperseded])
        #expect(told.first?.data == ["operation": .string(operation), "by": operation == "op-1" ? "login" : "logout"])
      }
      // No login was reported, so no logout is reported.
      #expect(try await outcomes(world, of: "op-3").map(\.type) == [.loginSuperseded])
      #expect(try await world.count(.authenticationFailed) == 0)
      try await eventually("the late logins are undone") { world.vendor.count(.signOut) == 2 }
      #expect(desk.state != .authenticated)
    }
  }

  @Test func `A login that another backend ends has its outcome`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      _ = try await begin(desk, "alice#1", as: "op-1")
      let joined = try await begin(desk, "alice#1", as: "op-2")
      try await desk.redefine { current in
        var next = current
        next.settings["base_url"] = "https://b.example"
        return .init(
          definition: next, adapter: try world.host.adapter(for: next, uuid: desk.uuid),
          provider: try next.providerConfiguration(), isOtherBackend: true)
      }
      #expect(await reason { _ = try await desk.finish(joined) } == "superseded")
      gate.open()
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      for operation in ["op-1", "op-2"] {
        let told = try await outcomes(world, of: operation)
        #expect(told.map(\.type) == [.authenticationFailed])
        #expect(told.first?.data["reason"] == "superseded")
      }
    }
  }

  @Test func `A caller's patience ends the waiting and nothing else`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      let pending = try await begin(desk, "alice#1", as: "op-1")
      #expect(await reason { _ = try await desk.finish(pending, timeout: 0.01) } == "timeout")
      gate.open()
      #expect(try await desk.finish(pending).user.externalId == "alice")
    }
  }

  @Test func `A login with nothing to do is told, and takes back a logout that is still to be told`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance(settings: ["retry": true])
      _ = try await desk.finish(try await begin(desk, "alice#1", as: "op-1"))
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await logout(desk, as: "op-2") == "network")
      #expect(pending(desk).map(\.purpose) == ["logout"])
      #expect(try await desk.finish(try await begin(desk, "alice#1", as: "op-3")).user.name == "settled")
      #expect(pending(desk).isEmpty)
      #expect(try await world.store.load().instances.first?.outbox.isEmpty == true)
      let told = try #require(try await outcomes(world, of: "op-3").first)
      #expect(told.type == .userLoggedIn)
      #expect(told.data["user"]?["name"] == "settled")
      #expect(world.vendor.count(.signIn) == 1)
    }
  }

  /// With the present token, too, the login is a request to the vendor, because its session is being ended.
  @Test(arguments: ["alice#1", "alice#2"] as [Secret])
  func `A retried logout that succeeds during the next login ends no session and restores push`(token: Secret)
    async throws
  {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance(settings: ["retry": true, "one_push": true, "overwrites": true])
      try await desk.signIn("alice#1")
      _ = try await desk.registerPush(service: nil, PushEndpoint(address: "p-1", type: .fcm))
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await logout(desk, as: "op-1") == "network")
      let (delivery, login) = (world.vendor.hold(.deliver), world.vendor.hold(.signIn))
      world.clock.advance(60)
      try await eventually("the vendor gets the logout", waking: world.deadlines) { world.vendor.count(.deliver) == 1 }
      let pending = try await begin(desk, token, as: "op-2")
      delivery.open()
      try await eventually("the delivery has ended") { self.pending(desk).isEmpty }
      login.open()
      _ = try await desk.finish(pending)
      try await eventually("the device is registered again") { world.vendor.calls.last == "push p-1" }
      #expect(world.vendor.count(.signIn) == 2)
      #expect(desk.state == .authenticated)
      #expect(try await desk.pushRecords().count == 1)
    }
  }

  @Test func `A push registration during an accepted login waits, and lets the next login begin`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signIn)
      _ = try await begin(desk, "bob#1", as: "op-1")
      async let registered = desk.registerPush(service: nil, PushEndpoint(address: "p-1", type: .fcm))
      for _ in 0..<200 { await Task.yield() }
      #expect(world.vendor.count(.push) == 0)
      _ = try await desk.finish(try await begin(desk, "carol#1", as: "op-2"))
      _ = try await registered
      #expect(try await desk.pushRecords().first?.user.externalId == "carol")
      gate.open()
    }
  }

  @Test func `A logout that succeeds takes back the one that is still to be told`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance(settings: ["retry": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await logout(desk, as: "op-1") == "network")
      #expect(pending(desk).map(\.purpose) == ["logout"])
      #expect(try await desk.signOut())
      #expect(pending(desk).isEmpty)
      #expect(try await world.store.load().instances.first?.outbox.isEmpty == true)
    }
  }

  @Test func `A failed logout and its retry are one change; the retry is told once and ends the session`() async throws
  {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store, policy: Self.policy) { world in
      let desk = try await world.instance(settings: ["retry": true, "orphans": true])
      try await desk.signIn("alice#1")
      _ = try await desk.registerPush(service: nil, PushEndpoint(address: "p-1", type: .fcm))
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await logout(desk, as: "op-1") == "network")
      let told = try #require(try await outcomes(world, of: "op-1").first)
      #expect(told.data == ["reason": "network", "retrying": true])
      #expect(try await world.store.load().instances.first?.outbox.count == 1)
      #expect(desk.state == .authenticated)
    }
    try await World.run(store: store, policy: Self.policy) { world in
      let desk = try #require(world.hosted("desk"))
      world.clock.advance(60)
      try await eventually("the user is gone", waking: world.deadlines) { desk.state == .loggedOut }
      try await eventually("nothing is pending") { pending(desk).isEmpty }
      #expect(world.vendor.calls == ["deliver alice#1"])
      // The vendor was informed of the logout and has removed the user's pushes, so none is orphaned.
      #expect(try await desk.pushRecords().isEmpty)
      #expect(try await world.count(.pushOrphaned) == 0)
    }
  }

  @Test func `A former user who can't be logged out stays, and is not logged out later`() async throws {
    try await World.run(policy: .samples[2]) { world in
      let desk = try await world.instance(settings: ["retry": true])
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await reason { try await desk.signIn("bob#1") } == "network")
      #expect(pending(desk).isEmpty)
      #expect(desk.user.externalId == "alice")
    }
  }

  @Test func `What changes while a credential is renewed is neither lost nor undone`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.amend { $0["gone"] = "soon" }
      world.bridge.answer("alice#2")
      let gate = world.vendor.hold(.verify)
      async let renewed = desk.refresh(timeout: nil, resetting: true)
      try await eventually("the vendor is asked") { world.vendor.calls.last == "verify alice#2" }
      try await desk.amend { values in
        values["gone"] = nil
        values["new"] = "kept"
      }
      gate.open()
      #expect(try await renewed.token == "alice#2")
      #expect(try await desk.identity().kindState == ["client": "c1", "new": "kept"])
    }
  }

  @Test func `What is said while another user's login is under way is about that user`() async throws {
    try await World.run(policy: Self.policy) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      for (token, error) in [("bob#1" as Secret, nil), ("carol#1", SampleErrors.refused)] {
        let gate = world.vendor.hold(.signIn, then: error)
        let login = try await begin(desk, token, as: "op-\(token.reveal())")
        async let said = reason {
          try await desk.amend(requiringUser: .userNotAuthorized) { $0["said"] = token }
        }
        async let session = desk.openSession(minTTL: 0, timeout: nil)
        gate.open()
        _ = await reason { _ = try await desk.finish(login) }
        #expect(await said == error?.reason.rawValue)
        #expect(try await session.user.externalId == "bob")
        #expect(try await desk.identity().kindState["said"] == "bob#1")
      }
    }
  }

  @Test func `Where identities are not kept a start wipes what nobody owns any more`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance(settings: ["forgets": true])
      try await desk.signIn("alice#1")
      try await desk.store("mine", for: "draft", epoch: nil)
      _ = try await desk.registerPush(service: nil, PushEndpoint(address: "p-1", type: .fcm))
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .noUser)
      #expect(try await desk.storedValue("draft", epoch: nil).value == .null)
      #expect(try await desk.pushRecords().map(\.orphaned) == [true])
      #expect(try await world.count(.identityWiped) == 1)
    }
    try await World.run(store: store) { world in
      let count = try await world.count(.identityWiped)
      #expect(count == 1)
    }
  }

  @Test func `Who no longer wants identities kept has none on disk from then on`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      _ = try await world.instance()
      let desk = try #require(world.hosted("desk"))
      try await desk.signIn("alice#1")
      let admin = world.session()
      _ = try await world.call(
        "instance.update", ["instance": "desk", "settings": ["forgets": true]], on: admin
      ).get()
      #expect(desk.state == .authenticated)
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .noUser)
    }
  }
}
