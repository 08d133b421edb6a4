import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct DefinitionTests {
  private func update(_ world: World, _ desk: HostedInstance, _ settings: JSONObject) async throws {
    try await desk.redefine { current in
      var next = current
      next.settings = current.settings.merged(with: settings)
      return .init(
        definition: next, adapter: try world.host.adapter(for: next, uuid: desk.uuid),
        provider: try next.providerConfiguration(),
        isOtherBackend: next.settings["base_url"] != current.settings["base_url"])
    }
  }

  @Test func `Another backend wipes the user`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store(1, for: "note", epoch: nil)
      try await update(world, desk, ["base_url": "https://b.example"])
      #expect(desk.state == .noUser)
      #expect(desk.user == .none)
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(try await world.events().suffix(3) == [.userLoggedOut, .identityWiped, .instanceUpdated])
      #expect(try await world.last(.userLoggedOut)?.data["user"]?["externalId"] == "alice")
      try await desk.signIn("bob#1")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `Another provider begins with a closed breaker`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await update(world, desk, ["one_push": true])
      #expect(world.bridge.resets == 0)
      try await desk.redefine { current in
        var next = current
        next.provider = ["command": ["/bin/echo"]]
        return .init(
          definition: next, adapter: try world.host.adapter(for: next, uuid: desk.uuid),
          provider: try next.providerConfiguration(), isOtherBackend: false)
      }
      try await eventually("the breaker is reset") { world.bridge.resets == 1 }
    }
  }

  @Test func `An instance that is gone from the disk is gone, also when the store fails after that`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1)
      #expect(await reason { try await world.host.delete(desk) } == "storeUnavailable")
      #expect(desk.cachedAnswer(minTTL: 0, http: false) != nil, "nothing was removed")
      world.store.failNextCommits(1, afterWriting: true)
      #expect(await reason { try await world.host.delete(desk) } == "storeUnavailable")
      #expect(await world.call("token.get", ["instance": "desk"], on: world.session()).reason == "instanceNotFound")
      #expect(await reason { _ = try await world.instance() } == nil, "the name is free again")
    }
  }

  @Test func `Another backend without a user logs nobody out`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.signOut()
      let logouts = try await world.count(.userLoggedOut)
      try await update(world, desk, ["base_url": "https://b.example"])
      #expect(try await world.count(.userLoggedOut) == logouts)
    }
  }

  /// Returns an instance whose backend has changed while a login was at the former one, and the gate of that login.
  private func lateLogin(in world: World) async throws -> (desk: HostedInstance, gate: Gate) {
    let desk = try await world.instance()
    let gate = world.vendor.hold(.signIn)
    async let login = reason { try await desk.signIn("alice#1") }
    try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
    try await update(world, desk, ["base_url": "https://b.example"])
    #expect(await login == "superseded")
    return (desk, gate)
  }

  @Test func `A login at the former backend is not adopted at the next`() async throws {
    try await World.run { world in
      let (desk, gate) = try await lateLogin(in: world)
      gate.open()
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(world.vendor.signOutURLs.all == ["https://a.example"])
      #expect(desk.state == .noUser)
    }
  }

  @Test func `A late login at the former backend is undone there, also if the next backend has the same user`()
    async throws
  {
    try await World.run { world in
      let (desk, gate) = try await lateLogin(in: world)
      try await desk.signIn("alice#2")
      gate.open()
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(world.vendor.signOutURLs.all == ["https://a.example"])
      #expect(try await desk.token().token == "alice#2")
    }
  }

  @Test func `A late login at a former backend that can't be reached is ended there later, and not here`() async throws
  {
    try await World.run { world in
      let (desk, gate) = try await lateLogin(in: world)
      try await desk.signIn("alice#2")
      world.vendor.fail(.signOut, SampleErrors.network)
      gate.open()
      try await eventually("a logout is pending") {
        desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending?.map(\.purpose) == ["logout"]
      }
      // A login with nothing to do is about the present backend only.
      let again = try await desk.beginSignIn(settling: { _ in }, offering: { (_: FakeAdapter, _, _) in nil })
      #expect(try await desk.finish(again).changed == false)
      world.clock.advance(3600)
      try await eventually("the vendor is told", waking: world.deadlines) {
        world.vendor.calls.contains("deliver alice#1")
      }
      #expect(desk.user.externalId == "alice")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `Other settings keep the user and take effect at once`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      try await update(world, desk, ["refresh": ["max_attempts": 1]])
      #expect(desk.state == .authenticated)
      #expect(try await world.events().last == .instanceUpdated)
      #expect(try await world.last(.instanceUpdated)?.data == ["changed": ["settings"]])
      world.clock.advance(61)
      world.bridge.answer("alice#2", "alice#3")
      world.vendor.fail(.verify, SampleErrors.refused)
      #expect(await reason { _ = try await desk.token() } == "invalidAuth")
      #expect(world.bridge.questions.count == 1)
    }
  }

  @Test func `A change that can't be stored changes nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1)
      #expect(await reason { try await update(world, desk, ["base_url": "https://b.example"]) } == "storeUnavailable")
      #expect(desk.currentDefinition.settings["base_url"] == "https://a.example")
      #expect(try await desk.token().token == "alice#1")
    }
  }

  @Test
  func `A change that is on disk is in force, also when the old key can't be removed, and says so`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1, afterWriting: true)
      #expect(await reason { try await update(world, desk, ["base_url": "https://b.example"]) } == "storeUnavailable")
      #expect(desk.currentDefinition.settings["base_url"] == "https://b.example")
      #expect(desk.state == .noUser)
      try await desk.signIn("bob#1")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `The same definition again changes nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await update(world, desk, [:])
      #expect(try await world.events() == [.instanceCreated])
    }
  }

  @Test func `Deleting while a login is under way answers instanceNotFound and undoes it`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("alice#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      try await world.host.delete(desk)
      #expect(await login == "instanceNotFound")
      gate.open()
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(await desk.actor.heldUntil == nil, "a change of the deleted instance was committed")
      #expect(try await world.store.load().instances.isEmpty)
      #expect(await reason { _ = try await desk.token() } == "instanceNotFound")
      #expect(try await world.events() == [.instanceCreated, .instanceDeleted])
      #expect(world.bridge.forgotten.count == 1)
    }
  }

  @Test func `A call that waits for the deletion changes nothing`() async throws {
    let gate = Gate()
    try await World.run(wipeGate: gate) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1@60")
      world.clock.advance(61)
      async let deleted: Void = world.host.delete(desk)
      try await eventually("the deletion is on the disk") { gate.waitingCount == 1 }
      async let answer = reason { _ = try await desk.token() }
      for _ in 0..<200 { await Task.yield() }
      gate.open()
      try await deleted
      #expect(await answer == "instanceNotFound")
      #expect(await desk.actor.heldUntil == nil, "a change of the deleted instance was committed")
    }
  }

  @Test func `A renewal that ends after the logout and the deletion is undone`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.answer("alice#2!")
      let gate = world.vendor.hold(.verify)
      async let renewed = reason { _ = try await desk.refresh(timeout: nil, resetting: true) }
      try await eventually("the renewal is at the vendor") { world.vendor.count(.verify) == 1 }
      try await desk.signOut(localOnly: true)
      #expect(await renewed == "superseded")
      try await world.host.delete(desk)
      gate.open()
      try await eventually("the renewal is undone") { world.vendor.calls.contains("signOut alice#2!") }
    }
  }

  @Test func `Secrets are redacted, and the provider is for admins`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["key": "hunter2"])
      let shown = desk.shape(secretSettings: ["key"], isAdmin: true, conceals: false)
      #expect(shown.settings["key"] == "‹redacted›")
      #expect(shown.provider != nil)
      #expect(desk.shape(secretSettings: ["key"], isAdmin: false, conceals: false).provider == nil)
      #expect(desk.currentDefinition.settings["key"] == "hunter2")
    }
  }
}
