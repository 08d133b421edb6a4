import Foundation
import Logging
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Damaged indexes.
@Suite struct ReindexTests {
  /// Makes a state with an older backup. Returns its instance, and the instance that the backup does not have.
  private func prepare(_ directory: TemporaryDirectory) async throws -> (Sample, newer: Sample) {
    let store = try await open(directory)
    let (sample, newer) = (try Sample("desk"), try Sample("newer"))
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "older", keep: 3)
    _ = try await store.commit(newer.fill)
    for _ in 0..<3 { _ = try await store.commit(sample.change(events: [.init(.settingsUpdated)])) }
    await store.close()
    return (sample, newer)
  }

  /// Deletes the last events and changes their table without one of its indexes. The events are in the table `saved`.
  private func change(_ sql: String, hiding index: String, _ directory: TemporaryDirectory) throws {
    let raw = try DatabaseConnection(path: directory.database)
    try raw.writeWithoutTransaction { db in
      try db.execute(
        sql: "CREATE TEMP TABLE saved AS SELECT * FROM event WHERE position > 5; DELETE FROM event WHERE position > 5")
      let entry = try Row.fetchOne(db, sql: "SELECT * FROM sqlite_schema WHERE name = ?", arguments: [index])
      let row = try #require(entry)
      try db.execute(sql: "PRAGMA writable_schema = ON")
      try db.execute(sql: "DELETE FROM sqlite_schema WHERE name = ?", arguments: [index])
      try db.execute(sql: "PRAGMA writable_schema = RESET")
      try db.execute(sql: sql)
      try db.execute(sql: "PRAGMA writable_schema = ON")
      try db.execute(
        sql: "INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", arguments: row.values)
      try db.execute(sql: "PRAGMA writable_schema = RESET")
    }
    try raw.close()
  }

  @Test(
    "An index that does not lead to all rows is built again, and nothing is lost",
    arguments: ["event_by_time", "event_by_instance"])
  func anIndexIsBuiltAgain(index: String) async throws {
    let directory = try TemporaryDirectory()
    let (sample, newer) = try await prepare(directory)
    try change("INSERT INTO event SELECT * FROM saved", hiding: index, directory)
    let raw = try RawDatabase(directory)
    #expect(try raw.rows("PRAGMA integrity_check").count > 1)
    try raw.close()
    let lines = Seen<[String]>([])
    let store = try await SQLiteStateStore.open(
      directory: directory.state, logger: Logger(label: "test") { _ in LineHandler(lines: lines) })
    #expect(store.meta.repair == nil && store.meta.notice == nil)
    #expect(lines.value.contains { $0.contains("were built again, without loss") })
    for sample in [sample, newer] { try await sample.expectFilled(store) }
    #expect(try await store.events(after: 0, limit: 100).map(\.position) == Array(1...7))
    await store.close()
    let again = try await open(directory)
    #expect(again.meta.repair == nil)
    await again.close()
  }

  @Test("An index with more entries than its table has rows shows that rows are lost, and a backup is restored")
  func lostRowsAreNotHidden() async throws {
    let directory = try TemporaryDirectory()
    let (sample, newer) = try await prepare(directory)
    try change("DELETE FROM event WHERE position = 5", hiding: "event_by_time", directory)
    let store = try await open(directory)
    #expect(store.meta.repair?.backup.name == "older")
    try await sample.expectFilled(store)
    #expect(try await store.loaded(newer) == nil)
    await store.close()
  }

  @Test("With the wrong root key, a damaged index is left as it is")
  func theKeyComesFirst() async throws {
    let directory = try TemporaryDirectory()
    _ = try await prepare(directory)
    try change("UPDATE event SET time = time + 1", hiding: "event_by_time", directory)
    let before = try Data(contentsOf: URL(fileURLWithPath: directory.database))
    let key = directory.state + "/root.key"
    try Data(repeating: 7, count: 32).write(to: URL(fileURLWithPath: key))
    await #expect(throws: StoreOpenError.self) { _ = try await open(directory) }
    #expect(try Data(contentsOf: URL(fileURLWithPath: directory.database)) == before)
  }
}
