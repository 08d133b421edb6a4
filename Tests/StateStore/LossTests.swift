import Foundation
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// The losses of the event log to retention, as readers see them.
@Suite struct LossTests {
  private func write(_ count: Int, of sample: Sample, to store: any StateStore) async throws {
    for _ in 0..<count { _ = try await store.commit(sample.change(events: [.init(.settingsUpdated)])) }
  }

  @Test(
    "Who was notified of a loss is notified of a later one at a lower position", arguments: StoreUnderTest.allCases)
  func aLaterLossAtALowerPosition(kind: StoreUnderTest) async throws {
    let clock = TestClock()
    try await kind.with(clock: clock, retention: EventRetention(maxAge: 1000, maxCountPerInstance: 8)) { store in
      let (quiet, busy) = (try Sample("quiet"), try Sample("busy"))
      for sample in [quiet, busy] { _ = try await store.commit(sample.create) }
      try await write(2, of: quiet, to: store)
      clock.advance(by: 900)
      try await write(40, of: busy, to: store)
      await store.applyRetention()
      var page = try await store.eventPage(after: 1, limit: 10, of: nil)
      #expect(page.lost.keys.map { $0 } == [busy.uuid])
      let told = try #require(page.gap(at: EventPlace(1), of: nil))
      #expect(page.gap(at: told, of: nil) == nil)
      #expect(page.gap(at: EventPlace(1), of: [quiet.uuid]) == nil)
      clock.advance(by: 200)
      await store.applyRetention()
      page = try await store.eventPage(after: 1, limit: 10, of: nil)
      #expect(page.lost[quiet.uuid] == 2 && page.lost[busy.uuid, default: 0] > 2)
      let again = try #require(page.gap(at: told, of: nil))
      #expect(again.losses > told.losses && again.position == 1)
      #expect(page.gap(at: told, of: [quiet.uuid]) != nil)
      #expect(page.gap(at: again, of: nil) == nil)
      // A cursor of an earlier version has no number, and gets the gap once more.
      #expect(page.gap(at: EventPlace(1, acknowledged: 1 << 40), of: nil) != nil)
      // A loss before the reader's place is no gap.
      #expect(page.gap(at: EventPlace(page.newest), of: nil) == nil)
    }
  }

  @Test("The numbers of losses grow although the clock is set back")
  func aClockThatIsSetBack() async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock, retention: EventRetention(maxCountPerInstance: 0))
    let (one, two) = (try Sample("one"), try Sample("two"))
    for sample in [one, two] { _ = try await store.commit(sample.create) }
    var place = EventPlace(0)
    for sample in [one, two, one, two] {
      try await write(1, of: sample, to: store)
      clock.advance(by: -3600)
      await store.applyRetention()
      let page = try await store.eventPage(after: 0, limit: 10, of: [sample.uuid])
      place = try #require(page.gap(at: place, of: [sample.uuid]))
    }
    await store.close()
  }

  @Test(
    "A changed, moved or removed loss is a gap for all readers, and the journal reports it",
    arguments: [
      "UPDATE event_gap SET position = position - 1", "UPDATE event_gap SET position = 0",
      "UPDATE event_gap SET instance = 'a' || instance", "UPDATE event_gap SET instance = 'other'",
      "UPDATE event_gap SET time = 1", "DELETE FROM event_gap", "INSERT INTO event_gap VALUES ('a', 1, 1)",
      "UPDATE meta SET value = zeroblob(52) WHERE name = 'gaps'", "SELECT 1",
    ])
  func aDamagedLoss(sql: String) async throws {
    let directory = try TemporaryDirectory()
    let retention = EventRetention(maxCountPerInstance: 3)
    let store = try await open(directory, retention: retention)
    let (sample, other) = (try Sample("busy"), try Sample("other"))
    for sample in [sample, other] { _ = try await store.commit(sample.create) }
    try await write(9, of: sample, to: store)
    await store.applyRetention()
    let before = try await store.eventPage(after: 0, limit: 10, of: nil)
    let told = try #require(before.gap(at: EventPlace(0), of: nil))
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute(sql)
    try raw.close()
    let isDamaged = sql != "SELECT 1"
    for _ in 0..<2 {
      let lines = Seen<[String]>([])
      let again = try await SQLiteStateStore.open(
        directory: directory.state, retention: { retention },
        logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
      #expect(again.meta.repair == nil && again.meta.notice == nil)
      let isFirst = lines.value.contains { $0.contains("list of lost events is damaged") }
      let page = try await again.eventPage(after: 0, limit: 10, of: nil)
      #expect((page.gap(at: told, of: [other.uuid]) != nil) == isDamaged)
      #expect(page.gap(at: EventPlace(5), of: [sample.uuid]) != nil)
      await again.close()
      // The second opening finds the repaired list.
      if !isDamaged || !isFirst { #expect(!isFirst) }
    }
  }

  @Test("A state of an earlier version, whose losses have no digest, keeps them without a gap for others")
  func aStateWithoutADigest() async throws {
    let directory = try TemporaryDirectory()
    let retention = EventRetention(maxCountPerInstance: 3)
    let store = try await open(directory, retention: retention)
    let sample = try Sample()
    _ = try await store.commit(sample.create)
    try await write(9, of: sample, to: store)
    await store.applyRetention()
    let lost = try await store.eventPage(after: 0, limit: 10, of: nil).lost
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute("DELETE FROM meta WHERE name = 'gaps'")
    try raw.close()
    let again = try await open(directory, retention: retention)
    #expect(try await again.eventPage(after: 0, limit: 10, of: nil).lost == lost)
    await again.close()
    let rows = try RawDatabase(directory)
    #expect(try rows.data("SELECT value FROM meta WHERE name = 'gaps'").count == 1)
    try rows.close()
  }
}
