import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Pages of the event log in every store: selection by instance, and losses to retention.
@Suite struct EventPageTests {
  private func write(_ count: Int, of sample: Sample, to store: any StateStore) async throws {
    for _ in 0..<count { _ = try await store.commit(sample.change(events: [.init(.settingsUpdated)])) }
  }

  @Test(arguments: StoreUnderTest.allCases) func findsTheEventsOfSomeInstances(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let samples = try (0..<100).map { try Sample("desk-\($0)") }
      for _ in 0..<3 { for sample in samples { try await write(1, of: sample, to: store) } }
      // Few instances are looked up in the index one by one; for many, the log is walked.
      for wanted in [samples.prefix(2), samples.prefix(90)] {
        let uuids = Set(wanted.map(\.uuid))
        var (place, found): (UInt64, [StoredEvent]) = (0, [])
        var pages = 0
        while place < 300 {
          let page = try await store.eventPage(after: place, limit: 4, of: uuids)
          #expect(page.events.count <= 4 && page.newest == 300 && page.lost.isEmpty)
          #expect(page.reached > place)
          found += page.events
          place = page.reached
          pages += 1
        }
        #expect(found == (try await store.events(after: 0, limit: 300)).filter { uuids.contains($0.uuid) })
        #expect(pages >= found.count / 4)
      }
      let none = try await store.eventPage(after: 0, limit: 4, of: [InstanceUUID("none")])
      #expect(none == EventPage(events: [], reached: 300, newest: 300))
      #expect(try await store.eventPage(after: 300, limit: 4, of: nil).events.isEmpty)
      #expect(try await store.eventPage(after: .max, limit: 4, of: nil).newest == 300)
      #expect(try await store.eventPage(after: 298, limit: 4, of: nil).events.map(\.position) == [299, 300])
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func tellsWhatEachInstanceHasLost(kind: StoreUnderTest) async throws {
    try await kind.with(retention: EventRetention(maxCountPerInstance: 3)) { store in
      let (quiet, busy) = (try Sample("quiet"), try Sample("busy"))
      try await write(2, of: quiet, to: store)
      try await write(8, of: busy, to: store)
      await store.applyRetention()
      let page = try await store.eventPage(after: 1, limit: 10, of: nil)
      #expect(page.events.map(\.position) == [2, 8, 9, 10])
      #expect(page.lost == [busy.uuid: 7])
      #expect(try await store.eventPage(after: 7, limit: 10, of: nil).lost.isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases) func remembersWhoCouldSeeWhatIsGone(kind: StoreUnderTest) async throws {
    try await kind.with { store in
      let (one, two) = (try Sample("one"), try Sample("two"))
      for sample in [one, two] { _ = try await store.commit(sample.create) }
      let last = InstanceChange.NewEvent(.instanceDeleted, audience: ["owner": 7])
      _ = try await store.commit(one.change(.delete, events: [last]))
      let gone = try await store.load().deleted
      #expect(gone.map(\.uuid) == [one.uuid])
      #expect(gone.first?.audience == ["owner": 7])
      #expect(gone.first?.data == [:])
    }
  }
}

extension EventPageTests {
  @Test func aBusyInstanceIsKeptWithinItsBoundWithoutASweep() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory, retention: EventRetention(maxCountPerInstance: 80))
    let (quiet, busy) = (try Sample("quiet"), try Sample("busy"))
    try await write(5, of: quiet, to: store)
    try await write(400, of: busy, to: store)
    // The store acknowledges a commit before it prunes events. A further commit waits until pruning has ended.
    try await write(1, of: quiet, to: store)
    let events = try await store.events(after: 0, limit: 1000)
    #expect(events.count { $0.uuid == quiet.uuid } == 6)
    #expect((80...91).contains(events.count { $0.uuid == busy.uuid }))
    #expect(try await store.eventPage(after: 0, limit: 0, of: nil).lost.keys.map { $0 } == [busy.uuid])
    await store.close()
  }

  @Test func aSweepTakesWhatIsTooOldPieceByPiece() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let retention = EventRetention(maxAge: 100, maxCountPerInstance: 5000)
    let store = try await open(directory, clock: clock, retention: retention)
    let sample = try Sample()
    for _ in 0..<12 {
      let events = (0..<100).map { _ in InstanceChange.NewEvent(.settingsUpdated) }
      _ = try await store.commit(sample.change(events: events))
    }
    clock.advance(by: 101)
    try await write(3, of: sample, to: store)
    await store.applyRetention()
    #expect(try await store.events(after: 0, limit: 5000).map(\.position) == [1201, 1202, 1203])
    #expect(try await store.eventPage(after: 0, limit: 1, of: nil).lost == [sample.uuid: 1200])
    await store.close()
  }

  @Test("Deleted instances whose events all ended with age share one loss")
  func agedEventsOfDeletedInstances() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock, retention: EventRetention(maxAge: 100))
    let (kept, one, two) = (try Sample("kept"), try Sample("one"), try Sample("two"))
    for sample in [kept, one, two] { _ = try await store.commit(sample.create) }
    for sample in [kept, one, two] { try await write(1, of: sample, to: store) }
    for sample in [one, two] { _ = try await store.commit(sample.change(.delete, events: [.init(.instanceDeleted)])) }
    clock.advance(by: 101)
    try await write(1, of: kept, to: store)
    await store.applyRetention()
    let page = try await store.eventPage(after: 0, limit: 10, of: nil)
    #expect(page.events.map(\.uuid) == [kept.uuid])
    #expect(Set(page.lost.keys) == [kept.uuid, .anyDeleted])
    #expect(page.lost[.anyDeleted] == page.newest - 1)
    // The loss stays when it is older than the events that are kept, so that an old cursor gets a gap.
    for _ in 0..<2 {
      clock.advance(by: 101)
      try await write(1, of: kept, to: store)
      await store.applyRetention()
      let later = try await store.eventPage(after: 0, limit: 10, of: nil)
      #expect(later.lost[.anyDeleted] == page.lost[.anyDeleted])
      #expect(Set(later.lost.keys) == [kept.uuid, .anyDeleted])
    }
    await store.close()
  }

  @Test("A loss of an instance that was deleted without an event becomes part of the shared loss")
  func anOldLossOfADeletedInstance() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock, retention: EventRetention(maxAge: 100))
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    try await write(3, of: sample, to: store)
    clock.advance(by: 101)
    await store.applyRetention()
    #expect(try await store.eventPage(after: 0, limit: 10, of: nil).lost == [sample.uuid: 3])
    _ = try await store.commit(sample.change(.delete))
    clock.advance(by: 101)
    await store.applyRetention()
    #expect(try await store.eventPage(after: 0, limit: 10, of: nil).lost == [.anyDeleted: 3])
    await store.close()
  }

  @Test func eventsOfInstancesThatAreGoneAreBounded() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    let limit = EventPruner.goneLimit
    let samples = try (0..<(limit + 20)).map { try Sample("desk-\($0)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for sample in samples {
        group.addTask {
          let change = sample.change(.create(sample.instance), .delete, events: [.init(.instanceDeleted)])
          _ = try await store.commit(change)
        }
      }
      try await group.waitForAll()
    }
    _ = try await store.commit(try Sample("last").create)
    let events = try await store.events(after: 0, limit: limit * 2)
    #expect(events.count == limit)
    #expect(events.first?.position == 21)
    // The loss is reported for all of them together.
    #expect(try await store.eventPage(after: 0, limit: 1, of: nil).lost == [.anyDeleted: 20])
    await store.close()
  }
}
