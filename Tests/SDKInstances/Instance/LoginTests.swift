import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct LoginTests {
  @Test func `A login gives the user, the token and one event`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let user = try await desk.signIn("alice#1")
      #expect(user.externalId == "alice")
      #expect(desk.state == .authenticated)
      #expect(try await desk.token().token == "alice#1")
      #expect(try await world.events() == [.instanceCreated, .userLoggedIn])
      #expect(try await world.last(.userLoggedIn)?.data["user"]?["externalId"] == "alice")
      #expect(world.bridge.questions.isEmpty)
    }
  }

  @Test func `Logins that have not ended at the vendor are bounded, with those being undone`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let most = InstanceActor.maximumLogins
      let gates = (0..<most).map { _ in world.vendor.hold(.signIn) }
      let logouts = (0..<most).map { _ in world.vendor.hold(.signOut) }
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<most {
          group.addTask { _ = await reason { try await desk.signIn("user\(number)#1") } }
          try? await eventually("the login is at the vendor") { world.vendor.count(.signIn) == number + 1 }
        }
        #expect(await reason { try await desk.signIn("late#1") } == "rateLimit")
        // All but the last one are undone now, and count until that has ended.
        for gate in gates { gate.open() }
        try? await eventually("the late logins are undone") { world.vendor.count(.signOut) == most - 1 }
        #expect(await reason { try await desk.signIn("late#1") } == nil)
        for gate in logouts { gate.open() }
      }
      try await eventually("all have ended") { await desk.actor.logins[nil] == 0 }
      #expect(desk.user.externalId == "late")
      #expect(world.vendor.count(.signIn) == most + 1)
    }
  }

  @Test func `The same token again asks nobody`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let user = try await desk.signIn("alice#1")
      #expect(user.externalId == "alice")
      #expect(world.vendor.calls == ["signIn alice#1"])
    }
  }

  @Test func `A refused login keeps the user, says so once and never asks the bridge`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signIn, SampleErrors.refused)
      #expect(await reason { try await desk.signIn("alice#2") } == "invalidAuth")
      #expect(desk.user.externalId == "alice")
      #expect(try await desk.token().token == "alice#1")
      #expect(try await world.count(.authenticationFailed) == 1)
      #expect(world.bridge.questions.isEmpty)
    }
  }

  @Test func `A token that can't be right is refused before the network`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      #expect(await reason { try await desk.signIn("nonsense") } == "failedToDecodeJWT")
      #expect(await reason { try await desk.signIn("alice#1@-5") } == "expiredJWT")
      #expect(world.vendor.calls.isEmpty)
      #expect(desk.state == .noUser)
      #expect(try await world.count(.authenticationFailed) == 2)
      let shape = desk.shape(secretSettings: [], isAdmin: true, conceals: false)
      #expect(shape.lastError?.reason == .expiredJWT)
      #expect(shape.lastError?.message.hasPrefix("The JWT has expired") == true)
    }
  }

  @Test func `Another user's login wipes the former user, whom the vendor is then told to log out`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("hers", for: "note", epoch: nil)
      let epoch = desk.shape(secretSettings: [], isAdmin: true, conceals: false).storageEpoch
      try await desk.signIn("bob#1")
      try await eventually("the former user is logged out") { world.vendor.count(.deliver) == 1 }
      #expect(world.vendor.calls == ["signIn alice#1", "signIn bob#1", "deliver alice#1"])
      #expect(
        try await world.events() == [.instanceCreated, .userLoggedIn, .userLoggedOut, .identityWiped, .userLoggedIn])
      #expect(try await world.last(.userLoggedOut)?.data["cause"] == "switch")
      #expect(try await world.last(.userLoggedOut)?.data["user"]?["externalId"] == "alice")
      #expect(try await world.last(.identityWiped)?.data["storage"] == 1)
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(await reason { try await desk.store("x", for: "note", epoch: epoch) } == "epochChanged")
    }
  }

  @Test(arguments: [SampleErrors.network, SampleErrors.refused])
  func `Another user's login that fails leaves the former user`(error: SDKError) async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signIn, error)
      #expect(await reason { try await desk.signIn("bob#1") } == error.reason.rawValue)
      #expect(desk.user.externalId == "alice")
      #expect(try await desk.token().token == "alice#1")
    }
  }

  @Test func `Where the switch is a logout and the former session can't be ended the former user stays`() async throws {
    try await World.run(policy: .samples[2]) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await reason { try await desk.signIn("bob#1") } == "network")
      #expect(desk.user.externalId == "alice")
      #expect(try await desk.token().token == "alice#1")
    }
  }

  @Test func `The next user's renewals are not held back by the former user's`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      for user in ["alice", "bob"] {
        try await desk.signIn("\(user)#1")
        world.bridge.answer("\(user)#2")
        try await desk.reject(TokenID(Secret("\(user)#1")))
        #expect(try await desk.token().token == Secret("\(user)#2"))
      }
      #expect(world.bridge.questions.count == 2)
      #expect(world.bridge.resets == 1)
    }
  }

  @Test func `The same user's new login is one login and wipes nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("hers", for: "note", epoch: nil)
      try await desk.signIn("alice#2")
      #expect(world.vendor.calls == ["signIn alice#1", "signIn alice#2"])
      #expect(try await desk.token().token == "alice#2")
      #expect(try await desk.storedValue("note", epoch: nil).value == "hers")
    }
  }

  /// Returns an instance on which another user's login has superseded one at the vendor, and the gate of the latter.
  private func supersededLogin(in world: World) async throws -> (desk: HostedInstance, gate: Gate) {
    let desk = try await world.instance()
    let gate = world.vendor.hold(.signIn)
    async let first = reason { try await desk.signIn("alice#1") }
    try await eventually("the first login is at the vendor") { world.vendor.count(.signIn) == 1 }
    try await desk.signIn("bob#1")
    #expect(await first == "superseded")
    return (desk, gate)
  }

  @Test func `A superseded login answers so, and is undone at the vendor when it succeeds after all`() async throws {
    try await World.run { world in
      let (desk, gate) = try await supersededLogin(in: world)
      gate.open()
      try await eventually("the late login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(desk.user.externalId == "bob")
      #expect(try await desk.token().token == "bob#1")
    }
  }

  @Test func `A late login that can't be undone in an outage leaves a logout, which is delivered later`() async throws {
    try await World.run { world in
      let (desk, gate) = try await supersededLogin(in: world)
      world.vendor.fail(.signOut, SampleErrors.network)
      gate.open()
      try await eventually("a logout is pending") {
        desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending?.map(\.purpose) == ["logout"]
      }
      #expect(try await world.store.load().instances.first?.outbox.count == 1)
      #expect(world.vendor.count(.deliver) == 0)
      world.clock.advance(3600)
      try await eventually("the vendor is told", waking: world.deadlines) {
        world.vendor.calls.contains("deliver alice#1")
      }
      #expect(desk.user.externalId == "bob")
    }
  }

  @Test func `The same login during a renewal changes nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.bridge.hold(then: "alice#2")
      async let renewed = desk.refresh(timeout: nil, resetting: false)
      try await eventually("the owner is asked") { world.bridge.questions.count == 1 }
      #expect(try await desk.signIn("alice#1").externalId == "alice")
      gate.open()
      #expect(try await renewed.token == "alice#2")
      #expect(world.vendor.count(.signIn) == 1)
    }
  }

  @Test func `Two credentials for ids with the same letters in other bytes are not the same`() {
    let credential = Credential(token: Secret(""), type: .custom, obtainedAt: ManualClock.start, expiresAt: nil)
    let one = CheckedCredential(credential: credential, externalId: "\u{E9}ric")
    #expect(one.isSame(as: CheckedCredential(credential: credential, externalId: "\u{E9}ric")))
    #expect(!one.isSame(as: CheckedCredential(credential: credential, externalId: "e\u{301}ric")))
  }

  @Test func `A user whose id has the same letters in other bytes is another user`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("\u{E9}ric#1")
      try await desk.store(1, for: "note", epoch: nil)
      try await desk.signIn("e\u{301}ric#1")
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(desk.user.externalId.map { Array($0.utf8) } == Array("e\u{301}ric".utf8))
      world.bridge.answer("\u{E9}ric#2")
      #expect(
        await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "providerTokenForOtherUser")
    }
  }

  @Test func `A logout supersedes a login that hangs`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("alice#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      #expect(try await desk.signOut() == false)
      #expect(await login == "superseded")
      gate.open()
      try await eventually("the late login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(desk.state == .noUser)
    }
  }

  @Test func `A login that can't be stored answers so, keeps the former state and does not log the user out`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("alice#2") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 2 }
      world.store.failNextCommits(1)
      gate.open()
      #expect(await login == "storeUnavailable")
      #expect(desk.state == .authenticated)
      #expect(try await desk.token().token == "alice#1")
      // Undoing it would end the session that the user still has.
      try await eventually("the login has ended") { await desk.actor.logins[nil] == 0 }
      #expect(world.vendor.count(.signOut) == 0)
      try await desk.signIn("alice#3")
      #expect(try await desk.token().token == "alice#3")
    }
  }

  @Test func `Another user's login that can't be stored leaves the former user, and ends at the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("hers", for: "note", epoch: nil)
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("bob#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 2 }
      world.store.failNextCommits(1)
      gate.open()
      #expect(await login == "storeUnavailable")
      #expect(desk.user.externalId == "alice")
      #expect(try await desk.token().token == "alice#1")
      #expect(try await desk.storedValue("note", epoch: nil).value == "hers")
      #expect(try await world.count(.userLoggedOut) == 0)
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut bob#1") }
      // The former user's logout was a part of the change.
      #expect(desk.shape(secretSettings: [], isAdmin: true, conceals: false).pending == nil)
      #expect(world.vendor.count(.deliver) == 0)
    }
  }

  @Test func `During another user's login the token of the former one is given out, also if it is short`()
    async throws
  {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1@60")
      let gate = world.vendor.hold(.signIn)
      async let login = desk.signIn("bob#1")
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 2 }
      let token = try await desk.token(minTTL: 600)
      #expect(token.token == "alice#1@60")
      #expect(token.short == true)
      gate.open()
      #expect(try await login.externalId == "bob")
      #expect(world.bridge.questions.isEmpty)
    }
  }

  @Test func `A refresh waits for the login in progress`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.signIn)
      async let login = desk.signIn("bob#1")
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 2 }
      world.bridge.answer("bob#2")
      async let refreshed = desk.refresh(timeout: nil, resetting: false)
      for _ in 0..<200 { await Task.yield() }
      gate.open()
      _ = try await login
      #expect(try await refreshed.token == "bob#2")
    }
  }

  @Test func `A first login that can't be stored ends at the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      async let login = reason { try await desk.signIn("alice#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      world.store.failNextCommits(1)
      gate.open()
      #expect(await login == "storeUnavailable")
      try await eventually("the login is undone") { world.vendor.calls.contains("signOut alice#1") }
      #expect(desk.state == .noUser)
    }
  }

  @Test func `A wipe that can't be stored locks, and the next user finds nothing`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("hers", for: "note", epoch: nil)
      world.store.failNextCommits(1)
      #expect(await reason { try await desk.signOut(localOnly: true) } == "storeUnavailable")
      #expect(desk.state == .locked)
      #expect(await reason { _ = try await desk.token() } == "locked")
      #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).reason == .locked)
      try await desk.signIn("bob#1")
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(try await desk.token().token == "bob#1")
    }
  }

  @Test func `What a wipe that failed has left is wiped by the next login, also of the same user`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("old", for: "k", epoch: nil)
      world.store.failNextCommits(1)
      #expect(await reason { try await desk.signOut(localOnly: true) } == "storeUnavailable")
      #expect(desk.state == .locked)
      try await desk.signIn("alice#2")
      #expect(desk.state == .authenticated)
      #expect(try await desk.storedValue("k", epoch: nil).value == .null)
      #expect(try await world.count(.identityWiped) == 1)
    }
  }

  @Test func `A wipe that failed is repeated when the store works, and until then nothing is read`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      try await desk.store("hers", for: "note", epoch: nil)
      store.failNextCommits(1)
      #expect(await reason { try await desk.signOut(localOnly: true) } == "storeUnavailable")
      #expect(desk.state == .locked)
      #expect(await reason { _ = try await desk.storedValue("note", epoch: nil) } == "locked")
      #expect(await reason { _ = try await desk.storedKeys(epoch: nil) } == "locked")
      #expect(await reason { _ = try await desk.pushRecords() } == "locked")
      world.clock.advance(InstanceActor.pauseAfterFailure)
      try await eventually("the wipe is repeated", waking: world.deadlines) { desk.state == .loggedOut }
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(try await world.count(.identityWiped) == 1)
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .loggedOut)
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
    }
  }

  @Test func `A wipe that is repeated has the cause of the one that failed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.bridge.fail(SampleErrors.denied)
      world.store.failNextCommits(1)
      _ = await reason { _ = try await desk.refresh(timeout: nil, resetting: true) }
      #expect(desk.state == .locked)
      world.clock.advance(InstanceActor.pauseAfterFailure)
      try await eventually("the wipe is repeated", waking: world.deadlines) { desk.state == .loggedOut }
      let events = try await world.store.events(after: 0, limit: 1000)
      #expect(events.filter { $0.type == .userLoggedOut }.map { $0.data["cause"] } == ["implicit"])
      // After an implicit logout no anonymous user is made.
      #expect(try await !desk.openSession(minTTL: 0, timeout: nil).visible)
      #expect(world.vendor.count(.makeAnonymous) == 0)
    }
  }

  @Test func `A locked instance is unlocked by a logout that can be stored`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.store.failNextCommits(1)
      _ = await reason { try await desk.signOut(localOnly: true) }
      #expect(try await desk.signOut() == false)
      #expect(desk.state == .loggedOut)
      #expect(try await world.store.load().instances.first?.identity?["phase"] == "loggedOut")
    }
  }

  @Test func `A login that was cancelled by its caller is a login all the same`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.signIn)
      let login = Task { try await desk.signIn("alice#1") }
      try await eventually("the login is at the vendor") { world.vendor.count(.signIn) == 1 }
      login.cancel()
      gate.open()
      #expect(try await login.value.externalId == "alice")
    }
  }

  @Test func `A user survives a restart, with the vendor asked once`() async throws {
    let clock = ManualClock()
    let store = InMemoryStateStoreFactory.make(clock)
    try await World.run(store: store) { world in try await world.instance().signIn("alice#1") }
    try await World.run(store: store) { world in
      let id = try #require(InstanceID("desk"))
      let desk = try #require(world.registry.hosted(id))
      #expect(desk.state == .authenticated)
      #expect(desk.user.externalId == "alice")
      #expect(try await desk.token().token == "alice#1")
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).visible)
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(world.vendor.calls == ["probe alice#1"])
    }
  }
}
