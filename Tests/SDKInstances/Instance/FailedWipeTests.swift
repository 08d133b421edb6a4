import Concurrency
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Wipes that can't be stored, and restarts.
struct FailedWipeTests {
  /// Signs a user out while the disk is full, and restarts. Returns the store.
  private func failedLogout(
    _ settings: JSONObject = [:], on service: String? = nil
  ) async throws -> InMemoryStateStore {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance(provider: false, settings: settings)
      for name in service == nil ? [nil] : ["cases", "chat"] {
        _ = try await desk.signIn(service: name, accepted: {}) { (adapter: FakeAdapter, _, _) in
          try adapter.check("alice#1", now: desk.wallClock.now())
        }
      }
      store.failNextCommits(.max)
      let answer = await reason {
        _ = try await desk.signOut(service: service, localOnly: true, accepted: {})
      }
      #expect(answer == "storeUnavailable")
    }
    return store
  }

  @Test func `A logout that could not be stored is made after a restart, before anybody gets the token`()
    async throws
  {
    let store = try await failedLogout()
    // The disk is still full at the next start, and has room at the one after it.
    for isFull in [true, false] {
      store.failNextCommits(isFull ? .max : 0)
      try await World.run(store: store) { world in
        let desk = try #require(world.hosted("desk"))
        #expect(desk.state == .locked)
        #expect(await reason { _ = try await desk.token() } == "locked")
        #expect(desk.cachedAnswer(minTTL: 0, http: false) == nil)
        world.deadlines.wake()
        if !isFull { try await eventually("the logout is made") { desk.state == .loggedOut } }
      }
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .loggedOut)
      try await desk.signIn("bob#1")
    }
    try await World.run(store: store) { world in #expect(world.hosted("desk")?.state == .authenticated) }
  }

  @Test func `The next user is signed in after a restart, also if the note of the failed logout could not be deleted`()
    async throws
  {
    let store = try await failedLogout()
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      store.failNextCommits(0)
      store.failNextNotes(.max)
      try await desk.signIn("bob#1")
      #expect(store.notedWipes(of: desk.uuid) == [""])
    }
    store.failNextNotes(0)
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .authenticated)
      #expect(try await desk.token().token == "bob#1")
    }
  }

  @Test func `A note that could not be written or deleted is written or deleted with a later step`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      store.failNextCommits(.max)
      store.failNextNotes(1)
      #expect(await reason { _ = try await desk.signOut(localOnly: true, accepted: {}) } == "storeUnavailable")
      await desk.actor.step(nil) { _, _ in Step() }
      #expect(store.notedWipes(of: desk.uuid) == [""])
      store.failNextNotes(1)
      store.failNextCommits(0)
      try await desk.signIn("bob#1")
      await desk.actor.step(nil) { _, _ in Step() }
      #expect(store.notedWipes(of: desk.uuid) == [])
    }
  }

  @Test func `The watchdog does not end the daemon while a note waits for the disk`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      let (begun, end) = (Promise<Void>(), Promise<Void>())
      store.holdNotes {
        begun.resolve(.success(()))
        try? await end.value()
      }
      store.failNextCommits(.max)
      let logout = Task { await reason { _ = try await desk.signOut(localOnly: true, accepted: {}) } }
      try await begun.value()
      let answered = Records<Bool>()
      let probe = Task {
        await desk.answer()
        answered.add(true)
      }
      try await eventually("the probe is answered") { answered.count == 1 }
      probe.cancel()
      end.resolve(.success(()))
      #expect(await logout.value == "storeUnavailable")
    }
  }

  @Test func `The logout of another service keeps the note of the service whose logout could not be stored`()
    async throws
  {
    let store = try await failedLogout(["services": ["cases", "chat"], "anonymous": false], on: "cases")
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      store.failNextCommits(0)
      // A restart finds the notes from before the commit.
      store.failNotesAfterNextCommit()
      _ = try await desk.signOut(service: "chat", localOnly: true, accepted: {})
    }
    store.failNextNotes(0)
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      let services = desk.shape(secretSettings: [], isAdmin: true, conceals: false).services
      #expect(services?["cases"]?.state == .locked)
      #expect(services?["chat"]?.state == .loggedOut)
    }
  }

  @Test func `Only the service whose logout could not be stored is locked after a restart`() async throws {
    let store = try await failedLogout(["services": ["cases", "chat"], "anonymous": false], on: "cases")
    store.failNextCommits(0)
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      let answer = await reason { _ = try await desk.token(service: "cases", minTTL: 0, timeout: nil, http: false) }
      #expect(answer == "locked")
      try await eventually("the logout is made", waking: world.deadlines) {
        desk.shape(secretSettings: [], isAdmin: true, conceals: false).services?["cases"]?.state == .loggedOut
      }
      #expect(try await desk.token(service: "chat", minTTL: 0, timeout: nil, http: false).token == "alice#1")
    }
  }
}
