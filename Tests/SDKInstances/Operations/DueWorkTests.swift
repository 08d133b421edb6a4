import Doubles
import JSONRPC
import SDKProtocol
import StateStore
import Synchronization
import Testing

@testable import SDKInstances

/// Work that becomes due for many instances at once.
struct DueWorkTests {
  private static let count = Operations.dueLimit + 100

  /// Signs in users whose credentials end after a minute.
  private func fill(_ store: InMemoryStateStore) async throws {
    try await World.run(store: store) { world in
      for number in 0..<Self.count {
        try await world.instance("desk-\(number)", provider: false).signIn("alice#1@60")
      }
    }
  }

  @Test func `A start commits what ended meanwhile for many instances at a time`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await fill(store)
    let before = store.undemandedCount
    let gate = Gate()
    defer { gate.open() }
    let world = World(store: store, commitGate: gate)
    world.clock.advance(61)
    async let restored: Void = world.host.restore()
    try await eventually("many changes wait for the disk") { gate.waitingCount == Operations.dueLimit }
    gate.open()
    // The first answer does not wait for the others.
    try await restored
    #expect(store.undemandedCount == before + Operations.dueLimit)
    #expect(world.registry.instances.count { $0.state == .reauthNeeded } == Operations.dueLimit)
    let later = try #require(world.registry.instances.first { $0.state != .reauthNeeded })
    #expect(await reason { _ = try await later.token() } == "reauthNeeded")
    let operations = world.host.environment.operations
    async let end: Void = operations.run()
    try await eventually("all have ended") { world.registry.instances.allSatisfy { $0.state == .reauthNeeded } }
    operations.finish()
    await end
    #expect(store.undemandedCount >= before + Self.count - 1)
  }

  @Test func `Deadlines that pass at once make changes that no caller waits for`() async throws {
    let store = InMemoryStateStoreFactory.make(ManualClock())
    try await fill(store)
    let first = store.undemandedCount
    try await World.run(store: store) { world in
      world.clock.advance(61)
      try await eventually("all have ended", waking: world.deadlines) {
        world.registry.instances.allSatisfy { $0.state == .reauthNeeded }
      }
      #expect(store.undemandedCount == first + Self.count)
      let desk = try #require(world.hosted("desk-0"))
      let before = store.undemandedCount
      try await desk.store(1, for: "key", epoch: nil)
      #expect(store.undemandedCount == before)
    }
  }

  @Test func `A bounded number of due works is in progress at a time, and all of them run`() async throws {
    let operations = Operations()
    let gate = Gate()
    let progress = Mutex((now: 0, most: 0, ended: 0))
    for _ in 0..<Self.count {
      operations.startDue {
        progress.withLock { progress in
          progress.now += 1
          progress.most = max(progress.most, progress.now)
        }
        await gate.wait()
        progress.withLock { progress in
          progress.now -= 1
          progress.ended += 1
        }
      }
    }
    async let end: Void = operations.run()
    try await eventually("the bound is reached") { progress.withLock { $0.now } >= Operations.dueLimit }
    let other = Gate()
    operations.start { other.open() }
    await other.wait()
    gate.open()
    operations.finish()
    await end
    #expect(progress.withLock { $0.most } == Operations.dueLimit)
    #expect(progress.withLock { $0.ended } == Self.count)
  }
}
