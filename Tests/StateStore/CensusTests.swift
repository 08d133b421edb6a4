import Foundation
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// The sealed count of instances, and the comparison of the schema.
@Suite struct CensusTests {
  /// Makes a state with three instances, runs `sql` on the closed database and opens the state again.
  private func changed(_ sql: String) async throws -> (store: SQLiteStateStore, directory: TemporaryDirectory) {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    for name in ["one", "two", "three"] { _ = try await store.commit(Sample(name).create) }
    await store.close()
    let raw = try RawDatabase(directory)
    try raw.execute(sql)
    try raw.close()
    return (try await open(directory), directory)
  }

  @Test(
    "Removed, added and replaced rows of instances are noticed once and kept in a file",
    arguments: [
      "DELETE FROM instance WHERE id = 'one'",
      "UPDATE instance SET uuid = 'other' WHERE id = 'one'",
      """
      INSERT INTO instance SELECT 'other', 'four', created_at, epoch, storage_epoch, 77, definition, identity FROM instance \
      WHERE id = 'one'
      """,
      "DELETE FROM meta WHERE name = 'census'", "UPDATE meta SET value = zeroblob(52) WHERE name = 'census'",
      "DELETE FROM instance WHERE id = 'one'; DELETE FROM meta WHERE name = 'census'; PRAGMA user_version = 3",
    ])
  func changedRowsAreNoticed(sql: String) async throws {
    let (store, directory) = try await changed(sql)
    let notice = try #require(store.meta.notice)
    #expect(store.notices == [notice] && notice.text.contains(notice.file))
    await store.close()
    let again = try await open(directory)
    #expect(again.meta.notice == nil && again.notices == [notice])
    try FileManager.default.removeItem(atPath: directory.state + "/" + notice.file)
    #expect(again.notices == [])
    await again.close()
  }

  @Test("An instance that was made, deleted or refused by the store is no finding")
  func ownChangesAreNoFinding() async throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (try Sample("one"), try Sample("two"))
    let store = try await open(directory)
    _ = try await store.commit(one.create)
    _ = try await store.backUp(name: "copy", keep: 3)
    _ = try await store.commit(two.create)
    #expect(await reason { _ = try await store.commit(Sample("two").create) } == .instanceExists)
    _ = try await store.rotateKey()
    _ = try await store.commit(one.change(.delete))
    await store.close()
    let again = try await open(directory)
    #expect(again.meta.notice == nil)
    await again.close()
    // The backup lost the deleted instance too, and has a count of its own.
    _ = try StateRestoration.run(directory: directory.state, from: .named("copy"))
    let restored = try await open(directory)
    #expect(restored.meta.notice == nil)
    #expect(try await restored.load().instances.isEmpty)
    await restored.close()
  }

  @Test("A state and a backup of schema 3 are counted when they are first opened")
  func formerStatesAreCounted() async throws {
    let directory = try TemporaryDirectory()
    let (one, two) = (try Sample("one"), try Sample("two"))
    let store = try await open(directory)
    for sample in [one, two] { _ = try await store.commit(sample.create) }
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    for path in [directory.database, directory.state + "/backups/copy.db"] {
      let connection = try DatabaseConnection(path: path)
      try connection.write { db in
        try db.execute(sql: "DELETE FROM meta WHERE name IN ('census', 'generation'); PRAGMA user_version = 3")
      }
      try connection.close()
    }
    try FileManager.default.removeItem(atPath: directory.state + "/generation")
    let opened = try await open(directory)
    #expect(opened.meta.notice == nil)
    _ = try await opened.commit(one.change(.delete))
    await opened.close()
    _ = try StateRestoration.run(directory: directory.state, from: .named("copy"))
    let restored = try await open(directory)
    #expect(restored.meta.notice == nil)
    #expect(try await restored.load().instances.map(\.uuid) == [two.uuid])
    await restored.close()
  }

  @Test(
    "A trigger, view, index or table that sdkd did not make is damage, in the state and in a backup",
    arguments: [
      "CREATE TRIGGER planted AFTER UPDATE ON meta BEGIN DELETE FROM instance; END",
      "CREATE VIEW planted AS SELECT 1", "CREATE INDEX planted ON instance (epoch)", "CREATE TABLE planted (a)",
      "DROP INDEX event_by_time",
    ])
  func aStrangeSchemaIsDamage(sql: String) async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.commit(Sample().create)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    let path = directory.state + "/backups/copy.db"
    let connection = try DatabaseConnection(path: path)
    try connection.write { db in try db.execute(sql: sql) }
    try connection.close()
    #expect(throws: StoreOpenError.self) {
      _ = try StateRestoration.run(directory: directory.state, from: .newest)
    }
    let raw = try RawDatabase(directory)
    try raw.execute(sql)
    try raw.close()
    do {
      await (try open(directory)).close()
      Issue.record("opened with \(sql)")
    } catch {
      guard case .corrupt(let why) = error else { throw error }
      #expect(why.contains("schema"), "\(why)")
    }
  }
}
