import Foundation
import JSONRPC
import SDKProtocol
import SQLite
import Testing

@testable import StateStore

/// Restores of databases with a write-ahead log or a journal beside them, and of files that can't be read.
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
    let connection = try DatabaseConnection(path: copy)
    // A crash in the middle of a transaction leaves a database that is partly written, and its journal.
    try connection.writeWithoutTransaction { db in
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
    try connection.close()
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

  @Test("A staged database that was not checked does not become the state", arguments: [true, false])
  func anUncheckedDatabaseIsRemoved(hasBackup: Bool) async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.commit(Sample().create)
    let away = directory.path + "/away.db"
    for ending in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: directory.database + ending, toPath: away + ending)
    }
    if hasBackup { _ = try await store.backUp(name: "copy", keep: 3) }
    await store.close()
    for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: directory.database + ending) }
    // A kill between the copy and the check leaves this.
    let locked = try StateDirectory(directory.state)
    let staged = try StateReplacement(directory: locked).copy(DatabaseSource(path: away, name: "away"), label: "test")
    locked.unlock()
    #expect(FileManager.default.fileExists(atPath: staged) && FileManager.default.fileExists(atPath: staged + "-wal"))
    if hasBackup {
      let again = try await open(directory)
      #expect(again.meta.repair?.backup.name == "copy")
      await again.close()
    } else {
      await #expect(throws: StoreOpenError.corrupt(StateUnlocking.lost)) { _ = try await open(directory) }
    }
    #expect(!FileManager.default.fileExists(atPath: staged) && !FileManager.default.fileExists(atPath: staged + "-wal"))
  }

  @Test("The journal of the former state is set aside with it")
  func theJournalIsSetAside() async throws {
    let directory = try TemporaryDirectory()
    let store = try await open(directory)
    _ = try await store.backUp(name: "copy", keep: 3)
    await store.close()
    let journal = Data("journal".utf8)
    try journal.write(to: URL(fileURLWithPath: directory.database + "-journal"))
    let done = try StateRestoration.run(directory: directory.state, from: .named("copy"))
    let aside = try #require(done.setAside)
    #expect(!FileManager.default.fileExists(atPath: directory.database + "-journal"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside + "-journal")) == journal)
    let again = try await open(directory)
    #expect(again.setAside.map { directory.state + "/" + $0 } == [aside])
    await again.close()
  }

  @Test(
    "A backup with a link in the place of its log or journal is refused, and an older one taken",
    arguments: ["-wal", "-journal"])
  func aLinkBesideABackupIsRefused(ending: String) async throws {
    let directory = try TemporaryDirectory()
    let clock = TestClock()
    let store = try await open(directory, clock: clock)
    _ = try await store.backUp(name: "older", keep: 3)
    clock.advance(by: 10)
    _ = try await store.backUp(name: "newer", keep: 3)
    await store.close()
    let (newer, target) = (directory.state + "/backups/newer.db", directory.path + "/target")
    try Data("target".utf8).write(to: URL(fileURLWithPath: target))
    try FileManager.default.createSymbolicLink(atPath: newer + ending, withDestinationPath: target)
    let before = try directory.files()
    #expect(throws: StoreOpenError.self) { _ = try DatabaseSource.opened(at: newer) }
    #expect(throws: StoreOpenError.self) {
      _ = try StateRestoration.run(directory: directory.state, from: .named("newer"), at: clock.now)
    }
    #expect(try directory.files() == before)
    let done = try StateRestoration.run(directory: directory.state, from: .newest, at: clock.now)
    #expect(done.restored == "older" && done.damaged == ["newer"])
  }

  /// A file of the kernel that can be read only up to a fraction of its size.
  private static let short = "/sys/devices/system/cpu/online"

  @Test(
    "A file that can't be read to its end is not restored",
    .enabled(if: FileManager.default.isReadableFile(atPath: short), "needs sysfs"))
  func aTruncatedCopyIsRefused() async throws {
    let directory = try TemporaryDirectory()
    await (try open(directory)).close()
    let before = try directory.files()
    let source = try DatabaseSource.opened(at: Self.short)
    let error = #expect(throws: StoreOpenError.self) {
      try StateRestoration.run(directory: directory.state, from: .file(source))
    }
    if case .noBackup(let why)? = error {
      #expect(why.contains("bytes can be read"), "\(why)")
    } else {
      Issue.record("\(String(describing: error))")
    }
    #expect(try directory.files() == before)
  }

  @Test("The error for a file that can't be read names its path once")
  func theErrorNamesThePathOnce() throws {
    let directory = try TemporaryDirectory()
    do {
      _ = try DatabaseSource.opened(at: directory.path)
      Issue.record("opened a directory")
    } catch StoreOpenError.noBackup(let why) {
      let name = URL(fileURLWithPath: directory.path).lastPathComponent
      #expect(why.components(separatedBy: name).count == 2, "\(why)")
    }
  }
}
