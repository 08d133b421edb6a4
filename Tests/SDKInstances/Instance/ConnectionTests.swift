import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// The realtime connection of an instance to its vendor.
struct ConnectionTests {
  /// Returns an instance with a signed-in user, and its open connection.
  private func connected(_ world: World, provider: Bool = true) async throws -> (HostedInstance, FakeConnection) {
    let desk = try await world.instance(provider: provider, settings: ["realtime": true])
    try await desk.signIn("alice#1")
    return (desk, try await open(desk, world, 1))
  }

  /// Waits until the instance uses its `count`-th connection, and returns it.
  private func open(_ desk: HostedInstance, _ world: World, _ count: Int) async throws -> FakeConnection {
    try await eventually("connection \(count) is open") {
      let isOpen = await desk.isConnected
      return isOpen && world.vendor.connections.count == count
    }
    return try #require(world.vendor.connections.last)
  }

  @Test func `It is there while somebody is signed in, and not longer`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      #expect(!connection.isClosed)
      try await desk.signOut()
      try await eventually("it is closed") { connection.isClosed }
      #expect(world.vendor.count(.connect) == 1)
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      let next = try await open(desk, world, 2)
      #expect(next.user == "anonymous1")
      try await desk.delete()
      try await eventually("it is closed") { next.isClosed }
    }
  }

  @Test func `A clock that is set back delays no attempt`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      connection.lose()
      try await eventually("an attempt is planned") { await desk.actor.core[nil]?.connection.retryAt != nil }
      world.clock.advance(-3600)
      world.setClock()
      try await eventually("the attempt follows") {
        world.deadlines.wake()
        return world.vendor.count(.connect) == 2
      }
    }
  }

  @Test func `A login that fails or is under way leaves it alone; a new token needs a new one`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      let gate = world.vendor.hold(.signIn, then: SampleErrors.refused)
      async let login: Void = { _ = try? await desk.signIn("alice#2") }()
      try await eventually("the vendor is asked") { world.vendor.count(.signIn) == 2 }
      #expect(await desk.isConnected)
      gate.open()
      await login
      #expect(!connection.isClosed)
      #expect(world.vendor.count(.connect) == 1)
      try await desk.signIn("alice#3")
      _ = try await open(desk, world, 2)
      try await eventually("the former is closed") { connection.isClosed }
      #expect(world.vendor.calls.last == "connect alice#3")
    }
  }

  @Test func `A lost one comes back after pauses that grow, until one has held`() async throws {
    try await World.run { world in
      var (desk, connection) = try await connected(world)
      var pauses: [Double] = []
      for round in 2..<8 {
        connection.tell(.connected)
        connection.lose()
        try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
        let pause = try #require(await desk.pauseBeforeConnecting)
        pauses.append(pause)
        world.clock.advance(pause - 0.01)
        await desk.actor.deadlineReached()
        #expect(world.vendor.count(.connect) == round - 1)
        world.clock.advance(0.02)
        await desk.actor.deadlineReached()
        connection = try await open(desk, world, round)
      }
      // The pauses are exact, since `ManualClock.wall` gives 0.5 as every random number.
      #expect(pauses.map { ($0 * 100).rounded() / 100 } == [1, 2, 4, 8, 16, 32])
      #expect(try await world.count(.networkError) == 1)
      connection.tell(.connected)
      try await eventually("it is known") { await desk.connectedAt != nil }
      world.clock.advance(61)
      connection.lose()
      try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
      #expect(try #require(await desk.pauseBeforeConnecting) <= 1)
    }
  }

  @Test("A connection that the vendor has settled is back after a short pause each time it breaks")
  func settled() async throws {
    try await World.run { world in
      var (desk, connection) = try await connected(world)
      for round in 2..<6 {
        connection.tell(.connected)
        connection.tell(.settled)
        connection.lose()
        try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
        #expect(try #require(await desk.pauseBeforeConnecting) <= 2)
        world.clock.advance(2)
        await desk.actor.deadlineReached()
        connection = try await open(desk, world, round)
      }
    }
  }

  @Test("A message of the vendor that could not be taken is told at once, a broken connection is not")
  func lostMessage() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      connection.lose()
      try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
      #expect(try await world.count(.networkError) == 0)
      world.clock.advance(200)
      await desk.actor.deadlineReached()
      let next = try await open(desk, world, 2)
      next.tell(.settled)
      next.end(.lost(SDKError(.unreachable, .badResponse, "A message was too large.")))
      try await eventually("the loss is told") { await (try? world.count(.networkError)) == 1 }
    }
  }

  @Test func `One that can't be opened is tried again, not before the vendor wants it`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      var wait = SampleErrors.serverError
      wait.retryAfter = 50
      world.vendor.fail(.connect, wait)
      try await desk.signIn("alice#1")
      try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
      #expect(try #require(await desk.pauseBeforeConnecting) == 50)
      world.clock.advance(51)
      await desk.actor.deadlineReached()
      _ = try await open(desk, world, 1)
    }
  }

  @Test func `A refused credential is renewed once; a fresh one that is refused too is not tried again`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      world.bridge.answer("alice#2", "alice#3", "alice#4")
      connection.end(.refused(SampleErrors.refused))
      let second = try await open(desk, world, 2)
      #expect(world.vendor.calls.last == "connect alice#2")
      #expect(world.bridge.questions.map(\.name) == [.invalidAuth])
      second.end(.refused(SampleErrors.refused))
      try await eventually("it has ended") { await !desk.isConnected }
      world.clock.advance(3600)
      await desk.actor.deadlineReached()
      #expect(world.vendor.count(.connect) == 2)
      #expect(world.bridge.questions.count == 1)
      #expect(desk.state == .authenticated)
      // A new credential gets a new attempt. Once the vendor has accepted it, its refusal leads to a renewal again.
      _ = try await desk.refresh(timeout: nil, resetting: true)
      let third = try await open(desk, world, 3)
      third.tell(.connected)
      third.end(.refused(SampleErrors.refused))
      _ = try await open(desk, world, 4)
      #expect(world.bridge.questions.count == 3)
      #expect(world.vendor.calls.last == "connect alice#4")
    }
  }

  @Test func `A provider that gives the refused token again starts no loop`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      world.bridge.answer("alice#1", "alice#1")
      connection.end(.refused(SampleErrors.refused))
      try await eventually("the provider was asked") { world.bridge.questions.count == 1 }
      try await eventually("the renewal has ended") { await desk.isQuiet }
      #expect(desk.state == .authenticated)
      #expect(world.vendor.count(.connect) == 1)
    }
  }

  @Test("An app that opens a session brings the next attempt forward, but not against the vendor's Retry-After")
  func openingHastens() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      for _ in 0..<8 { world.vendor.fail(.connect, SampleErrors.network) }
      connection.lose()
      for attempt in 2..<8 {
        try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
        world.clock.advance(try #require(await desk.pauseBeforeConnecting) + 0.01)
        await desk.actor.deadlineReached()
        try await eventually("attempt \(attempt) is made") { world.vendor.count(.connect) == attempt }
      }
      try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
      #expect(try #require(await desk.pauseBeforeConnecting) > 20)
      // An attempt was made just now, so the next one can come in a second at the earliest.
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).live == false)
      #expect(try #require(await desk.pauseBeforeConnecting) <= ConnectionKeeping.shortestInterval)
      world.clock.advance(2)
      world.vendor.fail(.connect, SampleErrors.network)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).live == false)
      try await eventually("an attempt is made at once") { world.vendor.count(.connect) == 8 }
    }
  }

  @Test("A session doesn't bring an attempt forward that the vendor wants later")
  func openingRespectsRetryAfter() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      var wait = SampleErrors.serverError
      wait.retryAfter = 50
      world.vendor.fail(.connect, wait)
      try await desk.signIn("alice#1")
      try await eventually("the next attempt is planned") { await desk.pauseBeforeConnecting != nil }
      world.clock.advance(10)
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(try #require(await desk.pauseBeforeConnecting) == 40)
      #expect(world.vendor.count(.connect) == 1)
    }
  }

  @Test func `Without a provider a refusal needs a new login`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world, provider: false)
      connection.end(.refused(SampleErrors.refused))
      try await eventually("a new login is needed") { desk.state == .reauthNeeded }
      #expect(try await world.count(.authenticationFailed) == 1)
      try await eventually("it is closed") { connection.isClosed }
      try await desk.signIn("alice#2")
      _ = try await open(desk, world, 2)
    }
  }

  @Test func `An anonymous user who is refused there is probed, and kept if the vendor knows them`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      let first = try await open(desk, world, 1)
      first.end(.refused(SampleErrors.refused))
      try await eventually("the vendor is asked") { world.vendor.count(.probe) == 1 }
      try await eventually("that has ended") { await desk.isQuiet }
      #expect(desk.state == .anonymous)
      #expect(world.vendor.count(.connect) == 1)
      #expect(world.bridge.questions.isEmpty)
    }
  }

  @Test func `One that opens too late is closed, and what it says is not heard`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      let gate = world.vendor.hold(.connect)
      try await desk.signIn("alice#1")
      try await eventually("one is being opened") { world.vendor.count(.connect) == 1 }
      try await desk.signOut()
      gate.open()
      try await eventually("it is closed") { world.vendor.connections.first?.isClosed == true }
      let late = try #require(world.vendor.connections.first)
      late.tell(Self.merge(to: "v-2", externalId: "alice"))
      late.end(.refused(SampleErrors.refused))
      try await desk.signIn("bob#1")
      #expect(desk.user.externalId == "bob")
      #expect(try await world.count(.userMerged) == 0)
      #expect(world.bridge.questions.isEmpty)
    }
  }

  @Test func `The end of a token drops it until there is another one`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      try await desk.signIn("alice#1@60")
      let first = try await open(desk, world, 1)
      world.clock.advance(61)
      world.bridge.answer("alice#2")
      #expect(try await desk.token().token == "alice#2")
      _ = try await open(desk, world, 2)
      #expect(first.isClosed)
    }
  }

  @Test func `A logout that fails keeps it`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      world.vendor.fail(.signOut, SampleErrors.network)
      #expect(await reason { _ = try await desk.signOut() } == "network")
      #expect(!connection.isClosed)
      #expect(await desk.isConnected)
    }
  }

  @Test func `One that is lost during a logout is no reason for haste`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      let gate = world.vendor.hold(.signOut, then: SampleErrors.network)
      async let logout = reason { _ = try await desk.signOut() }
      try await eventually("the logout is at the vendor") { world.vendor.count(.signOut) == 1 }
      connection.lose()
      try await eventually("the loss is known") { await !desk.isConnected }
      world.clock.advance(3600)
      // No attempt is planned during the logout: an overdue one would trigger the deadline repeatedly.
      #expect(await desk.nextAttempt == nil)
      gate.open()
      #expect(await logout == "network")
      _ = try await open(desk, world, 2)
    }
  }

  // MARK: Merges

  private static func merge(
    from: String = "v-alice", to: String, externalId: String? = nil, token: Secret? = nil
  ) -> RealtimeNews {
    .merged(
      .init(from: from, to: to, mode: "single"),
      user: User(
        id: to, externalId: externalId, authenticationType: externalId == nil ? .sessionToken : .jwt,
        authenticated: externalId != nil, verified: externalId != nil),
      credential: token.map {
        Credential(token: $0, type: .sessionToken, obtainedAt: ManualClock.start, expiresAt: nil)
      }, kindState: ["client": "c1"])
  }

  @Test func `After a merge the instance speaks for the survivor, also after a restart`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let (desk, connection) = try await connected(world)
      connection.tell(Self.merge(to: "v-2", externalId: "alice"))
      let next = try await open(desk, world, 2)
      #expect(next.user == "v-2")
      #expect(desk.user.id == "v-2")
      #expect(try await desk.token().token == "alice#1")
      let told = try await world.last(.userMerged)
      #expect(told?.data["from"] == "v-alice")
      #expect(told?.data["to"] == "v-2")
      try await eventually("the former is closed") { connection.isClosed }
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.user.id == "v-2")
      #expect(desk.state == .authenticated)
    }
  }

  @Test func `A merge of an anonymous user may bring a new token`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["realtime": true])
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      let first = try await open(desk, world, 1)
      first.tell(Self.merge(from: "anonymous1", to: "anonymous9", token: "s-9"))
      _ = try await open(desk, world, 2)
      #expect(try await desk.token().token == "s-9")
      #expect(desk.state == .anonymous)
      #expect(world.vendor.calls.last == "connect s-9")
    }
  }

  @Test func `What a renewal under way brings belongs to the former user and is dropped`() async throws {
    try await World.run { world in
      let (desk, connection) = try await connected(world)
      let gate = world.vendor.hold(.verify)
      world.bridge.answer("alice#2", "alice#3")
      async let refreshed = reason { _ = try await desk.refresh(timeout: nil, resetting: true) }
      try await eventually("the vendor is asked") { world.vendor.count(.verify) == 1 }
      connection.tell(Self.merge(to: "v-2", externalId: "alice"))
      #expect(await refreshed == "superseded")
      gate.open()
      _ = try await open(desk, world, 2)
      #expect(desk.user.id == "v-2")
      #expect(try await desk.token().token == "alice#1")
    }
  }

  @Test func `An anonymous user who becomes a known one's is gone`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance(settings: ["realtime": true])
      let session = try await desk.openSession(minTTL: 0, timeout: nil)
      try await desk.store("draft", for: "note", epoch: session.storageEpoch)
      let first = try await open(desk, world, 1)
      first.tell(.mergedAway(.init(from: "anonymous1", to: "v-alice", mode: "single")))
      try await eventually("the user is gone") { desk.state == .loggedOut }
      #expect(try await desk.storedValue("note", epoch: nil).value == .null)
      #expect(
        try await world.events().suffix(3) == [.userMerged, .userLoggedOut, .identityWiped])
      try await eventually("it is closed") { first.isClosed }
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(desk.state == .loggedOut)
      #expect(desk.user == .none)
    }
  }
}

extension HostedInstance {
  fileprivate var connection: ConnectionKeeping { get async { await actor.core.services[0].connection } }
  fileprivate var isConnected: Bool { get async { await connection.isOpen } }
  fileprivate var connectedAt: Timestamp? { get async { await connection.connectedAt } }
  fileprivate var pauseBeforeConnecting: Double? {
    get async { await connection.retryAt.map { $0 - environment.clock.now() } }
  }
  fileprivate var nextAttempt: Timestamp? {
    get async {
      let service = await actor.core.services[0]
      return service.machine.activity == .signingOut ? nil : service.connection.retryAt
    }
  }
}
