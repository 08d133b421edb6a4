import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Push registrations, each of which belongs to an instance and a user.
struct PushTests {
  private func register(_ desk: HostedInstance, _ address: String) async throws -> String {
    try await desk.registerPush(service: nil, PushEndpoint(address: Secret(address), type: .fcm))
  }

  @Test func `A registration is made at the vendor, listed, and ended there`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let id = try await register(desk, "device-1")
      #expect(try await register(desk, "device-1") == id)
      #expect(try await desk.pushRecords().map(\.id) == [id])
      #expect(try await desk.pushRecords().first?.user.externalId == "alice")
      try await desk.unregisterPush(id)
      #expect(world.vendor.calls.last == "unpush v-device-1")
      #expect(try await desk.pushRecords().isEmpty)
      #expect(await reason { try await desk.unregisterPush(id) } == "notFound")
      #expect(try await world.count(.pushRegistered) == 2)
      #expect(try await world.count(.pushUnregistered) == 1)
    }
  }

  @Test func `A refused credential is renewed and the request replayed once, whoever met the refusal`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gates = (0..<10).map { _ in world.vendor.hold(.push, then: SampleErrors.refused) }
      world.bridge.answer("alice#2")
      try await withThrowingTaskGroup(of: String.self) { group in
        for number in 0..<10 { group.addTask { try await register(desk, "device-\(number)") } }
        try await eventually("all are at the vendor") { world.vendor.count(.push) == 10 }
        for gate in gates { gate.open() }
        for try await id in group { #expect(id.hasPrefix("p-")) }
      }
      #expect(world.bridge.questions.map(\.name) == [.invalidAuth])
      #expect(world.vendor.count(.push) == 20)
      #expect(try await world.count(.tokenRefreshed) == 1)
      #expect(try await world.count(.authenticationFailed) == 0)
    }
  }

  @Test func `A request that is refused twice, or for which there is no new credential, has failed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      world.vendor.fail(.push, SampleErrors.refused, SampleErrors.refused)
      world.bridge.answer("alice#2")
      #expect(await reason { _ = try await register(desk, "device-1") } == "invalidAuth")
      #expect(world.vendor.count(.push) == 2)
      let lonely = try await world.instance("lonely", provider: false)
      try await lonely.signIn("bob#1")
      world.vendor.fail(.push, SampleErrors.refused)
      #expect(await reason { _ = try await register(lonely, "device-1") } == "invalidAuth")
      #expect(lonely.state == .reauthNeeded)
    }
  }

  @Test func `After a late login is undone, the present user's device is registered again`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["one_push": true, "overwrites": true])
      let gate = world.vendor.hold(.signIn)
      async let first = reason { try await desk.signIn("alice#1") }
      try await eventually("the first login is at the vendor") { world.vendor.count(.signIn) == 1 }
      try await desk.signIn("bob#1")
      #expect(await first == "superseded")
      _ = try await register(desk, "device-1")
      gate.open()
      try await eventually("the device is registered again") { world.vendor.count(.push) == 2 }
      #expect(Array(world.vendor.calls.suffix(2)) == ["signOut alice#1", "push device-1"])
    }
  }

  @Test func `After a late anonymous user, the present user's device is registered again`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["one_push": true, "overwrites": true])
      let gate = world.vendor.hold(.makeAnonymous)
      async let opening = reason { _ = try await desk.openSession(minTTL: 0, timeout: nil) }
      try await eventually("the user is made") { world.vendor.count(.makeAnonymous) == 1 }
      try await desk.signIn("bob#1")
      _ = await opening
      _ = try await register(desk, "device-1")
      gate.open()
      try await eventually("the device is registered again") { world.vendor.count(.push) == 2 }
      #expect(world.vendor.count(.signOut) == 0)
    }
  }

  @Test func `Nobody registers without a user`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["anonymous": false])
      #expect(await reason { _ = try await register(desk, "device-1") } == "notAuthenticated")
      #expect(world.vendor.count(.push) == 0)
    }
  }

  @Test func `Where an SDK keeps one registration the former gives way`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["one_push": true])
      try await desk.signIn("alice#1")
      _ = try await register(desk, "device-1")
      _ = try await register(desk, "device-2")
      #expect(try await desk.pushRecords().map(\.address) == ["device-2"])
      #expect(world.vendor.calls.contains("unpush v-device-1"))
    }
  }

  @Test func `A former registration that the vendor can't remove now is removed by the next one`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["one_push": true])
      try await desk.signIn("alice#1")
      _ = try await register(desk, "device-1")
      world.vendor.fail(.unpush, SampleErrors.network)
      _ = try await register(desk, "device-2")
      #expect(Set(try await desk.pushRecords().map(\.address)) == ["device-1", "device-2"])
      _ = try await register(desk, "device-2")
      #expect(try await desk.pushRecords().map(\.address) == ["device-2"])
      #expect(world.vendor.calls.last == "unpush v-device-1")
    }
  }

  @Test func `The vendor is not asked for one registration too many`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      for number in 0..<StoredPush.maximumCount { _ = try await register(desk, "device-\(number)") }
      #expect(await reason { _ = try await register(desk, "device-64") } == "storageFull")
      #expect(world.vendor.count(.push) == StoredPush.maximumCount)
      _ = try await register(desk, "device-63")
    }
  }

  @Test func `A caller that leaves while the vendor is asked leaves a registration that is kept`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.push)
      let caller = Task { try await register(desk, "device-1") }
      try await eventually("the vendor is asked") { world.vendor.count(.push) == 1 }
      caller.cancel()
      await #expect(throws: CancellationError.self) { try await caller.value }
      gate.open()
      try await eventually("the registration is kept") { (try? await desk.pushRecords().count) == 1 }
    }
  }

  @Test func `A registration that can't be stored is removed at the vendor again`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      store.failNextCommits(1)
      #expect(await reason { _ = try await register(desk, "device-1") } == "storeUnavailable")
      try await eventually("it is removed") { world.vendor.calls.last == "unpush v-device-1" }
      #expect(try await desk.pushRecords().isEmpty)
    }
  }

  @Test(arguments: [nil, "bob#1"])
  func `A registration during a logout or a login is not stored for the next user`(next: String?) async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let change = world.vendor.hold(next == nil ? .signOut : .signIn)
      let registration = world.vendor.hold(.push)
      let changing = Task {
        if let next { try await desk.signIn(next) } else { try await desk.signOut() }
      }
      let call = next.map { "signIn \($0)" } ?? "signOut alice#1"
      try await eventually("the vendor is asked") { world.vendor.calls.last == call }
      async let outcome = reason { _ = try await register(desk, "device-1") }
      try await eventually("alice's device is at the vendor") { world.vendor.count(.push) == 1 }
      change.open()
      try await changing.value
      registration.open()
      #expect(await outcome == "superseded")
      #expect(try await desk.pushRecords().isEmpty)
      try await eventually("it is removed at the vendor") { world.vendor.calls.last == "unpush v-device-1" }
    }
  }

  @Test func `A registration that is repeated and can't be stored stays at the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let id = try await register(desk, "device-1")
      world.store.failNextCommits(1)
      #expect(await reason { _ = try await register(desk, "device-1") } == "storeUnavailable")
      #expect(try await register(desk, "device-1") == id)
      #expect(world.vendor.count(.unpush) == 0)
    }
  }

  @Test func `A new registration that fails leaves the former at the vendor`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["one_push": true])
      try await desk.signIn("alice#1")
      _ = try await register(desk, "device-1")
      world.vendor.fail(.push, SampleErrors.serverError)
      #expect(await reason { _ = try await register(desk, "device-2") } == "serverError")
      #expect(try await desk.pushRecords().map(\.address) == ["device-1"])
      #expect(world.vendor.count(.unpush) == 0)
    }
  }

  @Test func `A logout ends registrations, or leaves them orphaned until their user is back`() async throws {
    let store = InMemoryStateStore(clock: { ManualClock.start })
    try await World.run(store: store) { world in
      let desk = try await world.instance(settings: ["orphans": true, "overwrites": true])
      try await desk.signIn("alice#1")
      _ = try await register(desk, "device-1")
      try await desk.signOut(localOnly: true)
      #expect(try await desk.pushRecords().map(\.orphaned) == [true])
      #expect(try await world.count(.pushOrphaned) == 1)
      try await desk.signIn("bob#1")
      #expect(try await desk.pushRecords().count == 1)
    }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      #expect(try await desk.pushRecords().map(\.orphaned) == [true])
      try await desk.signOut(localOnly: true)
      try await desk.signIn("alice#2")
      #expect(try await desk.pushRecords().map(\.orphaned) == [false], "it is theirs again")
      try await eventually("the vendor gets the device again") { world.vendor.calls.last == "push device-1" }
      try await desk.signOut()
      #expect(try await desk.pushRecords().isEmpty)
    }
  }
}
