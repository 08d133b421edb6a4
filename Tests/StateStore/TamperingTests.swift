import JSONRPC
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Detection of rows that were moved, changed or put back.
@Suite struct TamperingTests {
  /// Makes a state with three instances, changes the database while it is closed, and opens it again.
  private func tampered(
    _ change: (RawDatabase, [Sample]) throws -> Void, then body: (SQLiteStateStore, [Sample]) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let samples = try ["one", "two", "three"].map { try Sample($0) }
    let store = try await open(directory)
    for sample in samples {
      _ = try await store.commit(sample.change(.create(sample.instance), .identify(Sample.identity)))
      for key in ["a", "b"] { _ = try await store.commit(sample.put(key, .string("\(key) of \(sample.id)"))) }
    }
    await store.close()
    let raw = try RawDatabase(directory)
    try change(raw, samples)
    try raw.close()
    let again = try await open(directory)
    try await body(again, samples)
    await again.close()
  }

  private func expectQuarantined(_ names: [String], _ store: SQLiteStateStore) async throws {
    let state = try await store.load()
    #expect(state.quarantined.map(\.id.name).sorted() == names.sorted())
    #expect(state.instances.count == 3 - names.count)
    #expect(state.quarantined.allSatisfy { $0.problem.contains("does not open") })
  }

  @Test(arguments: [
    "definition = (SELECT definition FROM instance WHERE id = 'two')",
    "identity = (SELECT identity FROM instance WHERE id = 'two')", "identity = x''", "identity = definition",
    "definition = zeroblob(100)", "epoch = epoch + 1", "storage_epoch = storage_epoch + 1",
    "created_at = created_at + 1", "id = 'other'", "slot = 77",
  ]) func quarantinesOneChangedRow(assignment: String) async throws {
    try await tampered { raw, _ in
      try raw.execute("UPDATE instance SET \(assignment) WHERE id = 'one'")
    } then: { store, samples in
      try await expectQuarantined([assignment == "id = 'other'" ? "other" : "one"], store)
      #expect(await reason { _ = try await store.commit(samples[0].change(.identify(nil))) } == .instanceQuarantined)
      #expect(try await store.storageValue(of: samples[1].uuid, key: "a")?.value == "a of two")
    }
  }

  @Test func quarantinesBothOfASwap() async throws {
    try await tampered { raw, samples in
      let rows = try raw.rows("SELECT uuid, definition, identity FROM instance WHERE id IN ('one', 'two')")
      for (row, other) in zip(rows, rows.reversed()) {
        let data = [other["definition"], other["identity"], row["uuid"]]
        try raw.execute("UPDATE instance SET definition = ?, identity = ? WHERE uuid = ?", data)
      }
    } then: { store, _ in
      try await expectQuarantined(["one", "two"], store)
    }
  }

  @Test(arguments: ["wrapped = zeroblob(60)", "anchor = zeroblob(68)", "anchor = x'00'"])
  func quarantinesWithoutItsKey(assignment: String) async throws {
    try await tampered { raw, _ in
      try raw.execute(
        "UPDATE data_key SET \(assignment) WHERE slot = (SELECT slot FROM instance WHERE id = 'one')")
    } then: { store, samples in
      try await expectQuarantined(["one"], store)
      #expect(
        await reason { _ = try await store.storageValue(of: samples[0].uuid, key: "a") } == .instanceQuarantined)
    }
  }

  /// Makes the change `later`, puts the last row of `table` back as it was before, and opens the state again.
  private func putBack(
    _ table: String, key: String, during later: (Sample) -> InstanceChange,
    then body: (SQLiteStateStore, Sample) async throws -> Void
  ) async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample("one")
    let other = try Sample("two")
    let store = try await open(directory)
    _ = try await store.commit(sample.change(.create(sample.instance), .identify("old")))
    _ = try await store.commit(sample.put("key", "old"))
    let raw = try RawDatabase(directory)
    let old = try #require(try raw.rows("SELECT * FROM \(table)").last)
    try raw.close()
    _ = try await store.commit(other.create)
    _ = try await store.commit(later(sample))
    await store.close()
    let again = try RawDatabase(directory)
    try again.restore(table, key: key, old)
    try again.close()
    let reopened = try await open(directory)
    try await body(reopened, sample)
    #expect(try await reopened.loaded(other) == other.instance)
    await reopened.close()
  }

  @Test(arguments: [("instance", "uuid"), ("data_key", "slot")])
  func detectsAnOlderRow(table: String, key: String) async throws {
    for change in [InstanceChange.Part.identify("new"), .define("new"), .raiseEpoch(to: 9), .wipe] {
      try await putBack(table, key: key) {
        $0.change(change)
      } then: { store, sample in
        let quarantined = try await store.load().quarantined
        #expect(quarantined.map(\.uuid) == [sample.uuid])
      }
    }
  }

  @Test("The instances whose storage was compared are remembered up to a limit")
  func comparedInstancesAreBounded() async throws {
    let directory = try TemporaryDirectory()
    var tuning = StoreTuning()
    tuning.comparedLimit = 4
    let store = try await open(directory, tuning: tuning)
    for number in 0..<10 {
      let sample = try Sample("desk-\(number)")
      _ = try await store.commit(sample.fill)
      #expect(try await store.storageValue(of: sample.uuid, key: "draft")?.value == "hello")
      #expect(store.storage.comparedCount == number % 4 + 1)
      _ = try await store.commit(sample.change(.delete))
    }
    await store.close()
  }

  @Test(arguments: ["storage", "data_key"]) func detectsOlderStorage(table: String) async throws {
    try await putBack(table, key: table == "storage" ? "tag" : "slot") {
      $0.put("key", "new")
    } then: { store, sample in
      #expect(await reason { _ = try await store.storageValue(of: sample.uuid, key: "key") } == .instanceQuarantined)
      #expect(await reason { _ = try await store.storageKeys(of: sample.uuid) } == .instanceQuarantined)
    }
  }

  @Test(arguments: [
    "DELETE FROM storage WHERE instance = ? AND tag = (SELECT MIN(tag) FROM storage WHERE instance = ?)",
    "UPDATE storage SET value_bytes = 1 WHERE instance = ? AND instance = ?",
    "UPDATE OR REPLACE storage SET tag = (SELECT MAX(tag) FROM storage s WHERE s.instance = ?) WHERE instance = ?",
  ]) func detectsChangedStorage(sql: String) async throws {
    try await tampered { raw, samples in
      let uuid = samples[0].uuid.description
      try raw.execute(sql, [uuid, uuid])
    } then: { store, samples in
      for key in ["a", "b"] {
        #expect(
          await reason { _ = try await store.storageValue(of: samples[0].uuid, key: key) } == .instanceQuarantined)
      }
      #expect(try await store.storageValue(of: samples[1].uuid, key: "b")?.value == "b of two")
      try await expectQuarantined([], store)
    }
  }

  @Test func deletesWhatDoesNotOpen() async throws {
    try await tampered { raw, _ in
      try raw.execute("UPDATE instance SET definition = zeroblob(9) WHERE id = 'one'")
    } then: { store, samples in
      let namesake = try Sample("one")
      #expect(await reason { _ = try await store.commit(namesake.create) } == .instanceExists)
      _ = try await store.commit(samples[0].change(.delete))
      _ = try await store.commit(namesake.create)
      try await expectQuarantined([], store)
    }
  }

  @Test func leavesOutEventsThatDoNotOpen() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(
      sample.change(events: [.init(.userLoggedIn), .init(.userLoggedOut), .init(.networkError)]))
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute("UPDATE event SET payload = (SELECT payload FROM event WHERE position = 1) WHERE position = 2")
    try raw.close()
    let again = try await open(directory)
    #expect(try await again.events(after: 0, limit: 10).map(\.position) == [1, 3])
    let page = try await again.eventPage(after: 0, limit: 10, of: [sample.uuid])
    #expect(page.events.map(\.position) == [1, 3] && page.lost == [.anyDeleted: 2], "a reader sees a gap")
    await again.close()
  }

  @Test("The damaged last event of a deleted instance is logged") func logsALostAudience() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.create)
    _ = try await store.commit(sample.change(.delete, events: [.init(.instanceDeleted)]))
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute("UPDATE event SET payload = zeroblob(100)")
    try raw.close()
    let lines = Seen<[String]>([])
    let again = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    #expect(try await again.load().deleted == [])
    #expect(lines.value.contains { $0.hasPrefix("1 deleted instances") })
    await again.close()
  }

  @Test func showsEventsOfAWipedInstance() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.change(.create(sample.instance), events: [.init(.userLoggedIn, data: ["u": 1])]))
    _ = try await store.commit(sample.change(.wipe))
    #expect(try await store.events(after: 0, limit: 10).first?.data == ["u": 1])
    await store.close()
  }
}
