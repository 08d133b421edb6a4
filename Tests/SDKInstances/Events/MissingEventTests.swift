import Doubles
import JSONRPC
import Logging
import SDKProtocol
import StateStore
import Testing

@testable import SDKInstances

/// Committed events that were never reported to the hub, or that exceed the capacity of its inbox.
struct MissingEventTests {
  private struct Everyone: EventDirectory {
    func audience(of uuid: InstanceUUID, id: InstanceID) -> EventAudience {
      EventAudience(policy: AccessPolicy(names: AccessPolicyTests.Names()), access: nil)
    }
    func watched(by peer: Peer, _ filter: EventFilter) -> Set<InstanceUUID>? { nil }
  }

  private func commit(_ count: Int, to store: InMemoryStateStore) async throws -> [StoredEvent] {
    let id = try #require(InstanceID("desk"))
    var events: [StoredEvent] = []
    for _ in 0..<count {
      let change = InstanceChange(
        uuid: InstanceUUID("u"), id: id, kind: KindName("k"), events: [.init(.settingsUpdated)])
      events += try await store.commit(change).events
    }
    return events
  }

  private func run(
    capacity: Int = 4096, patience: Duration = .milliseconds(20),
    _ test: (EventHub, InMemoryStateStore, FakeLink) async throws -> Void
  ) async throws {
    let store = InMemoryStateStore()
    let operations = Operations()
    let hub = EventHub(
      store: store, directory: Everyone(), operations: operations,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
      patience: patience, inboxCapacity: capacity)
    let link = FakeLink()
    let session = ClientSession(link: link)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await operations.run() }
      defer { operations.finish() }
      try await hub.begin()
      let made = try await hub.subscribe(
        link, session: session.key, filter: EventFilter(), since: nil, text: nil, isAdmin: true)
      await hub.activate(made.id)
      try await test(hub, store, link)
    }
  }

  private func cursors(_ link: FakeLink) -> [String] {
    link.notifications("events.event").compactMap { $0["event"]?["cursor"]?.stringValue }
  }

  @Test func `An event that was never reported is told from the store, in its place`() async throws {
    try await run { hub, store, link in
      let events = try await commit(6, to: store)
      hub.append(Array(events[..<2]))
      hub.append(Array(events[4...]))
      try await eventually("all are told") { link.eventTypes.count == 6 }
      #expect(cursors(link) == events.map { store.cursors.encode($0.position) })
      hub.append(Array(events[2..<4]))
      hub.append(try await commit(1, to: store))
      try await eventually("it goes on") { link.eventTypes.count == 7 }
    }
  }

  @Test func `More events at once than are held come all the same`() async throws {
    try await run(capacity: 16) { hub, store, link in
      let events = try await commit(900, to: store)
      hub.append(events)
      try await eventually("all are told") { link.eventTypes.count == 900 }
      #expect(cursors(link) == events.map { store.cursors.encode($0.position) })
    }
  }

  @Test func `After one wait the store is read to the newest event without further waits`() async throws {
    let change = InstanceChange(
      uuid: InstanceUUID("u"), id: try #require(InstanceID("desk")), kind: KindName("k"),
      events: Array(repeating: .init(.settingsUpdated), count: 16 * EventHub.pageSize))
    // A wait for each of the pages would take twice as long as the bound, on any machine. Where the work alone takes as
    // long, the waits must be longer.
    var isWithinBound = false
    for patience in [Duration.seconds(3), .seconds(12)] where !isWithinBound {
      try await run(capacity: 16, patience: patience) { hub, store, link in
        let events = try await store.commit(change).events
        let start = ContinuousClock.now
        hub.append(events)
        try await eventually("all are emitted") { link.eventTypes.count == events.count }
        isWithinBound = ContinuousClock.now - start < patience * 8
        #expect(cursors(link) == events.map { store.cursors.encode($0.position) })
      }
    }
    #expect(isWithinBound)
  }
}
