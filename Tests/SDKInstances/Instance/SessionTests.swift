import DelegateBridge
import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

struct SessionTests {
  @Test func `The first session makes one anonymous user, whoever asks`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.makeAnonymous)
      try await withThrowingTaskGroup(of: Session.self) { group in
        for _ in 0..<20 { group.addTask { try await desk.openSession(minTTL: 0, timeout: nil) } }
        try await eventually("the vendor is asked") { world.vendor.count(.makeAnonymous) == 1 }
        gate.open()
        for try await session in group {
          #expect(session.user.id == "anonymous1")
          #expect(session.visible)
          #expect(session.mayMerge)
          #expect(session.token?.token == "s-anonymous1")
          #expect(session.token?.http?.headers["Authorization"] == "Bearer s-anonymous1")
        }
      }
      #expect(world.vendor.count(.makeAnonymous) == 1)
      #expect(desk.state == .anonymous)
      #expect(try await world.events() == [.instanceCreated, .anonymousUserCreated])
      #expect(try await world.last(.anonymousUserCreated)?.data["user"]?["id"] == "anonymous1")
    }
  }

  @Test func `Where there are no anonymous users nothing is visible`() async throws {
    try await World.run { world in
      let desk = try await world.instance(settings: ["anonymous": false])
      let session = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(!session.visible)
      #expect(session.reason == .notAuthenticated)
      #expect(session.endpoint.baseUrl == "https://a.example")
      #expect(world.vendor.calls.isEmpty)
    }
  }

  @Test func `An anonymous user that can't be made is an error, and the next call tries again`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      world.vendor.fail(.makeAnonymous, SampleErrors.network)
      #expect(await reason { _ = try await desk.openSession(minTTL: 0, timeout: nil) } == "network")
      #expect(desk.state == .noUser)
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).visible)
    }
  }

  @Test func `A session waits for its anonymous user no longer than its timeout`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.makeAnonymous)
      #expect(await reason { _ = try await desk.openSession(minTTL: 0, timeout: 0.05) } == "timeout")
      gate.open()
      try await eventually("the user is created all the same") { desk.state == .anonymous }
    }
  }

  @Test func `A session waits for the first probe no longer than its timeout`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await World.run(store: store) { world in try await world.instance().signIn("alice#1") }
    try await World.run(store: store) { world in
      let desk = try #require(world.hosted("desk"))
      let gate = world.vendor.hold(.probe)
      #expect(await reason { _ = try await desk.openSession(minTTL: 0, timeout: 0.05) } == "timeout")
      gate.open()
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).visible)
      #expect(world.vendor.count(.probe) == 1)
    }
  }

  @Test func `A session waits for the kind's additions no longer than its timeout`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.open)
      #expect(await reason { _ = try await desk.openSession(minTTL: 0, timeout: 0.05) } == "timeout")
      #expect(try await world.count(.networkError) == 0)
      gate.open()
      #expect(try await desk.openSession(minTTL: 0, timeout: nil).visible)
    }
  }

  @Test func `A session that needs no vendor opens whatever its timeout`() async throws {
    try await World.run(policy: .visitor) { world in
      let desk = try await world.instance()
      try await desk.signIn("alice#1")
      for _ in 0..<100 { #expect(try await desk.openSession(minTTL: 0, timeout: 0).visible) }
    }
  }

  @Test func `A refresh waits for a probe no longer than its timeout`() async throws {
    try await World.run { world in
      let desk = try await world.instance(provider: false)
      try await desk.signIn("alice#1")
      let gate = world.vendor.hold(.probe)
      try await desk.reject(TokenID(Secret("alice#1")))
      #expect(await reason { _ = try await desk.refresh(timeout: 0.05, resetting: true) } == "timeout")
      gate.open()
    }
  }

  @Test func `A session whose anonymous user is overtaken by a login is the login's`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let gate = world.vendor.hold(.makeAnonymous)
      async let session = desk.openSession(minTTL: 0, timeout: nil)
      try await eventually("the vendor is asked") { world.vendor.count(.makeAnonymous) == 1 }
      try await desk.signIn("alice#1")
      gate.open()
      #expect(try await session.user.externalId == "alice")
      #expect(desk.user.externalId == "alice")
    }
  }

  @Test func `An anonymous user's token is for sessions and token get alike, and can't be renewed`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      _ = try await desk.openSession(minTTL: 0, timeout: nil)
      #expect(try await desk.token(minTTL: 3600).tokenType == .sessionToken)
      #expect(await reason { _ = try await desk.refresh(timeout: nil, resetting: true) } == "notAuthenticated")
    }
  }

  @Test func `A login keeps what an anonymous user stored`() async throws {
    try await World.run { world in
      let desk = try await world.instance()
      let before = try await desk.openSession(minTTL: 0, timeout: nil)
      try await desk.store("draft", for: "note", epoch: before.storageEpoch)
      try await desk.signIn("alice#1")
      #expect(try await desk.storedValue("note", epoch: before.storageEpoch).value == "draft")
      #expect(try await !desk.openSession(minTTL: 0, timeout: nil).mayMerge)
    }
  }
}
