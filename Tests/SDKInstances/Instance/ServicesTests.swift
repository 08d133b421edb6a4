import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Services of one instance, each with a user of its own.
struct ServicesTests {
  private static let services: JSONObject = ["services": ["cases", "chat"], "anonymous": false]

  private func signIn(_ desk: HostedInstance, _ token: String, on service: String) async throws {
    _ = try await desk.signIn(service: service, accepted: {}) { (adapter: FakeAdapter, _, _) in
      try adapter.check(Secret(token), now: desk.wallClock.now())
    }
  }

  /// Begins a login without waiting for the vendor.
  private func begin(
    _ desk: HostedInstance, _ token: Secret, on service: String
  ) async throws -> HostedInstance.PendingSignIn {
    try await desk.beginSignIn(
      service: service,
      offering: { (adapter: FakeAdapter, _, _) in try adapter.check(token, now: desk.wallClock.now()) })
  }

  private func set(_ services: [String], of desk: HostedInstance, in world: World) async throws {
    try await desk.redefine { current in
      var next = current
      next.settings["services"] = JSON.array(services.map(JSON.string))
      return .init(
        definition: next, adapter: try world.host.adapter(for: next, uuid: desk.uuid),
        provider: try next.providerConfiguration(), isOtherBackend: false)
    }
  }

  @Test func `Each service has its own user, token and state`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "alice#1", on: "cases")
      try await signIn(desk, "bob#1", on: "chat")
      #expect(try await desk.token(service: "cases", minTTL: 0, timeout: nil, http: false).token == "alice#1")
      #expect(try await desk.token(service: "chat", minTTL: 0, timeout: nil, http: false).token == "bob#1")
      _ = try await desk.signOut(service: "cases", localOnly: true, accepted: {})
      #expect(try desk.user(of: "cases") == .none)
      #expect(try desk.user(of: "chat").externalId == "bob")
      #expect(try await desk.token(service: "chat", minTTL: 0, timeout: nil, http: false).token == "bob#1")
      let shape = desk.shape(secretSettings: [], isAdmin: true, conceals: false)
      #expect(shape.services?["cases"]?.state == .loggedOut)
      #expect(shape.services?["chat"]?.state == .authenticated)
      #expect(shape.state == .authenticated)
    }
  }

  @Test func `Without a service the one that is set up is meant, and of several none`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      #expect(await reason { _ = try await desk.token() } == "invalidParams")
      try await signIn(desk, "alice#1", on: "cases")
      #expect(try await desk.token().token == "alice#1")
      try await signIn(desk, "bob#1", on: "chat")
      #expect(await reason { _ = try await desk.token() } == "invalidParams")
      let unknown = await reason { _ = try await desk.token(service: "case", minTTL: 0, timeout: nil, http: false) }
      #expect(unknown == "invalidParams")
    }
  }

  @Test func `A kind without services refuses one`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let answer = await reason { _ = try await desk.token(service: "cases", minTTL: 0, timeout: nil, http: false) }
      #expect(answer == "invalidParams")
    }
  }

  @Test func `A new instance has its services from its first moment`() async throws {
    try await World.run { world in
      let settings = Self.services.merged(with: ["base_url": "https://a.example"])
      let definition = Definition(kind: KindName("fake.chat"), source: .api, owner: 0, settings: settings)
      let stored = StoredInstance(
        uuid: .random(), id: try #require(InstanceID("desk")), createdAt: world.clock.now, definition: .null)
      let desk = try HostedInstance(
        stored: stored, definition: definition,
        adapter: try world.host.adapter(for: definition, uuid: stored.uuid), provider: nil,
        environment: world.host.environment)
      #expect(try desk.user(of: "cases") == .none)
      #expect(desk.shape(secretSettings: [], isAdmin: true, conceals: false).services?.count == 2)
    }
  }

  @Test func `A restart keeps each service as it was, and a wipe of one leaves the others' tokens`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "alice#1", on: "cases")
      try await signIn(desk, "bob#1", on: "chat")
      try await signIn(desk, "carol#1", on: "cases")
      let wiped = try await world.last(.identityWiped)
      #expect(wiped?.service == "cases")
      #expect(wiped?.data["tokens"] == 1)
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(try await desk.token(service: "cases", minTTL: 0, timeout: nil, http: false).token == "carol#1")
      #expect(try await desk.token(service: "chat", minTTL: 0, timeout: nil, http: false).token == "bob#1")
    }
  }

  @Test func `A service that is taken away takes its user with it, and the others stay`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "alice#1", on: "cases")
      try await signIn(desk, "bob#1", on: "chat")
      let fcm = { (address: String) in PushEndpoint(address: Secret(address), type: .fcm) }
      _ = try await desk.registerPush(service: "cases", fcm("device-1"))
      let kept = try await desk.registerPush(service: "chat", fcm("device-2"))
      try await desk.store("hers", for: "note", epoch: nil)
      let epoch = desk.shape(secretSettings: [], isAdmin: true, conceals: false).storageEpoch
      try await set(["chat"], of: desk, in: world)
      #expect(try await desk.token().token == "bob#1")
      let gone = await reason { _ = try await desk.token(service: "cases", minTTL: 0, timeout: nil, http: false) }
      #expect(gone == "invalidParams")
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(desk.shape(secretSettings: [], isAdmin: true, conceals: false).storageEpoch != epoch)
      #expect(await reason { try await desk.store("x", for: "note", epoch: epoch) } == "epochChanged")
      #expect(try await world.events().suffix(3) == [.userLoggedOut, .identityWiped, .instanceUpdated])
      let wiped = try await world.last(.identityWiped)
      #expect(wiped?.service == "cases")
      #expect(wiped?.data["storage"] == 1)
      #expect(try await desk.pushRecords().map(\.id) == [kept])
      let stored = try await world.store.load().instances.first
      #expect(stored?.pushes.map(\.id) == [kept])
      #expect(stored?.identity?["services"]?["chat"]?["phase"] == "authenticated")
    }
  }

  @Test func `A service without a user that is taken away wipes nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "bob#1", on: "chat")
      try await desk.store("his", for: "note", epoch: nil)
      try await set(["chat"], of: desk, in: world)
      #expect(try await desk.storedValue("note", epoch: nil).value == "his")
      #expect(try await world.count(.identityWiped) == 0)
    }
  }

  @Test func `A late login on a service that was taken away is no login there, also if the service is back`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      // Each login supersedes the one before, and none of them is stored.
      var late: [Gate] = []
      for (number, name) in ["alice", "bob", "carol"].enumerated() {
        late.append(world.vendor.hold(.signIn))
        _ = try await begin(desk, Secret("\(name)#1"), on: "cases")
        try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == number + 1 }
      }
      try await set(["chat"], of: desk, in: world)
      try await set(["cases", "chat"], of: desk, in: world)
      let gate = world.vendor.hold(.signIn)
      let login = try await begin(desk, "dave#1", on: "cases")
      for gate in late { gate.open() }
      try await eventually("the late logins are undone") { world.vendor.count(.signOut) == 3 }
      #expect(try desk.user(of: "cases") == .none)
      gate.open()
      #expect(try await desk.finish(login).user.externalId == "dave")
    }
  }

  @Test func `A late login is not undone if its user has signed in since on the service that is back`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      let gate = world.vendor.hold(.signIn)
      let late = try await begin(desk, "alice#1", on: "cases")
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      try await set(["chat"], of: desk, in: world)
      try await set(["cases", "chat"], of: desk, in: world)
      #expect(await reason { _ = try await desk.finish(late) } == "superseded")
      try await signIn(desk, "alice#2", on: "cases")
      gate.open()
      try await eventually("the late login has ended") { await desk.actor.logins["cases"] == 0 }
      // Undoing it would end the session that the user has now.
      #expect(world.vendor.count(.signOut) == 0)
      #expect(try await desk.token().token == "alice#2")
    }
  }

  @Test(arguments: [false, true])
  func `A late login on a service that was taken away is undone at the vendor, or ended there later`(isOutage: Bool)
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      let gate = world.vendor.hold(.signIn)
      let login = try await begin(desk, "alice#1", on: "cases")
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      try await set(["chat"], of: desk, in: world)
      #expect(await reason { _ = try await desk.finish(login) } == "superseded")
      if isOutage { world.vendor.fail(.signOut, SampleErrors.network) }
      gate.open()
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      guard isOutage else { return }
      try await eventually("a logout is pending") {
        desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending?.map(\.purpose) == ["logout"]
      }
      world.clock.advance(3600)
      try await eventually("the vendor is told", waking: world.deadlines) {
        world.vendor.calls.contains("deliver alice#1")
      }
    }
  }

  @Test func `A late login on a service that was taken away keeps the session that another service has`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "alice#1", on: "chat")
      let gate = world.vendor.hold(.signIn)
      _ = try await begin(desk, "alice#2", on: "cases")
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 2 }
      try await set(["chat"], of: desk, in: world)
      gate.open()
      try await eventually("the late login has ended") { await desk.actor.logins["cases"] == 0 }
      #expect(world.vendor.count(.signOut) == 0)
      #expect(try await desk.token().token == "alice#1")
    }
  }

  @Test func `A late renewal on a service that was taken away is undone if its credential is the only one`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services)
      try await signIn(desk, "alice#1", on: "cases")
      world.bridge.answer("alice#2!")
      let gate = world.vendor.hold(.verify)
      async let renewed = reason { _ = try await desk.refresh(service: "cases", timeout: nil, resetting: true) }
      try await eventually("the renewal is at the vendor") { world.vendor.count(.verify) == 1 }
      try await set(["chat"], of: desk, in: world)
      #expect(await renewed == "superseded")
      gate.open()
      try await eventually("the renewal is undone") { world.vendor.calls.contains("signOut alice#2!") }
    }
  }

  @Test func `A service that is taken away leaves the session that another service has`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: Self.services.merged(with: ["farewell": true]))
      for service in ["cases", "chat"] { try await signIn(desk, "alice#1", on: service) }
      try await set(["chat"], of: desk, in: world)
      // A revocation would be pending, or made already.
      #expect(desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending == nil)
      #expect(world.vendor.count(.deliver) == 0)
      #expect(try await desk.token().token == "alice#1")
    }
  }
}
