import Foundation
import GRDB
import JSONRPC
import SDKProtocol
import Testing

@testable import StateStore

/// Restores of databases with a write-ahead log or a journal beside them.
@Suite struct RestoredFileTests {
  @Test("A restored file has the content of the write-ahead log beside it")
  func theLogBesideAFileIsRestored() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.create)
    _ = try await store.commit(sample.put("last", "kept"))
    let away = directory.path + "/away"
    try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: true)
    for ending in ["", "-wal", "-shm"] {
      try FileManager.default.copyItem(atPath: directory.database + ending, toPath: away + "/state.db" + ending)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: away + "/state.db-wal")).isEmpty == false)
    _ = try await store.commit(sample.put("last", "lost"))
    await store.close()
    let link = directory.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: away + "/state.db")
    let done = try StateRestoration.run(directory: directory.state, from: .file(DatabaseSource.opened(at: link)))
    #expect(done.restored == link)
    #expect(try directory.files().keys.filter { $0.hasPrefix("state.db.restoring") || $0 == "state.db-wal" } == [])
    let again = try await open(directory)
    #expect(try await again.storageValue(of: sample.uuid, key: "last")?.value == "kept")
    await again.close()
  }

  @Test("A backup whose change was interrupted is restored without that change; a file from elsewhere is refused")
  func anInterruptedChangeIsUndone() async throws {
    let directory = try TemporaryDirectory()
    let sample = try Sample()
    let store = try await open(directory)
    _ = try await store.commit(sample.fill)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    let (copy, torn) = (directory.state + "/backups/copy.db", directory.path + "/torn.db")
    let whole = try Data(contentsOf: URL(fileURLWithPath: copy))
    let queue = try DatabaseQueue(path: copy)
    // A crash in the middle of a transaction leaves a database that is partly written, and its journal.
    try await queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE")
      try db.execute(sql: "UPDATE event SET payload = zeroblob(200000)")
      let result: Result<Void, any Error> = Result {
        for ending in ["", "-journal"] {
          try FileManager.default.copyItem(atPath: copy + ending, toPath: torn + ending)
        }
      }
      try db.execute(sql: "ROLLBACK")
      try result.get()
    }
    try queue.close()
    #expect(try Data(contentsOf: URL(fileURLWithPath: torn)) != whole)
    #expect(throws: StoreOpenError.self) { _ = try DatabaseSource.opened(at: torn) }
    for ending in ["", "-journal"] {
      try? FileManager.default.removeItem(atPath: copy + ending)
      try FileManager.default.copyItem(atPath: torn + ending, toPath: copy + ending)
    }
    #expect(try StateRestoration.run(directory: directory.state, from: .named("copy")).restored == "copy")
    let again = try await open(directory)
    try await sample.expectFilled(again)
    await again.close()
  }
}
