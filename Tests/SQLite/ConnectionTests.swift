import Foundation
import Testing

@testable import SQLite

/// Opening, closing and sharing a database.
@Suite struct ConnectionTests {
  @Test("A missing file is created, but not by a connection that only reads")
  func missingFiles() throws {
    let scratch = try Scratch()
    #expect(try code { _ = try scratch.open(isReadOnly: true) } == .cannotOpen)
    try scratch.openWithTable().close()
    #expect(FileManager.default.fileExists(atPath: scratch.path))
  }

  @Test("A file that is no database is refused when it is opened")
  func junk() throws {
    let scratch = try Scratch()
    try Data(repeating: 0xA5, count: 8192).write(to: URL(fileURLWithPath: scratch.path))
    #expect(try code { _ = try scratch.open() } == .notADatabase)
    try Data().write(to: URL(fileURLWithPath: scratch.path))
    #expect(try code { _ = try scratch.open() } == nil)
  }

  @Test("A database that is cut off is an error, and nothing traps")
  func damage() throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    try connection.write { db in
      for _ in 0..<200 { try db.execute(sql: "INSERT INTO item VALUES (randomblob(500))") }
    }
    try connection.close()
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path))
    try file.truncate(atOffset: 12_288)
    try file.close()
    let found = try code {
      let cut = try scratch.open()
      _ = try cut.read { db in try Data.fetchAll(db, sql: "SELECT value FROM item") }
    }
    #expect(found == .corrupt || found == .inputOutput, "\(String(describing: found))")
  }

  @Test("A connection that only reads refuses to write, and so does a read on any connection")
  func reading() throws {
    let scratch = try Scratch()
    let writer = try scratch.openWithTable()
    let reader = try scratch.open(isReadOnly: true)
    #expect(try code { try reader.insert(1) } == .readOnly)
    let sql = "INSERT INTO item VALUES (1)"
    #expect(try code { try writer.read { db in try db.execute(sql: sql) } } == .readOnly)
    #expect(try code { try writer.read { db in try db.execute(sql: "CREATE TEMP TABLE t (a)") } } == .readOnly)
    #expect(try code { try writer.read { db in try db.beginTransaction(.immediate) } } == .readOnly)
    try writer.insert(2)
    #expect(try reader.integers() == [2])
  }

  @Test("A read is one snapshot while another connection writes")
  func snapshots() throws {
    let scratch = try Scratch()
    let writer = try scratch.openWithTable()
    try writer.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
    try writer.insert(1)
    let reader = try scratch.open(isReadOnly: true)
    let seen = try reader.read { db in
      let before = try Int.fetchAll(db, sql: "SELECT value FROM item")
      try writer.insert(2)
      return [before, try Int.fetchAll(db, sql: "SELECT value FROM item")]
    }
    #expect(seen == [[1], [1]])
    #expect(try reader.integers() == [1, 2])
  }

  @Test("Another connection's lock is an error at once, or waited for")
  func busy() async throws {
    let scratch = try Scratch()
    let holder = try scratch.openWithTable()
    try holder.writeWithoutTransaction { db in try db.beginTransaction(.immediate) }
    let impatient = try scratch.open()
    #expect(try code { try impatient.insert(1) } == .busy)
    let patient = try scratch.open(busyTimeout: 60)
    async let waiting: Void = patient.insert(2)
    try holder.writeWithoutTransaction { db in try db.commit() }
    try await waiting
    #expect(try patient.integers() == [2])
  }

  @Test("The log can't be emptied while another connection reads from it, and can afterwards")
  func truncation() throws {
    let scratch = try Scratch()
    let writer = try scratch.openWithTable()
    try writer.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = WAL") }
    try writer.insert(1)
    let reader = try scratch.open()
    let during = try reader.read { db in
      _ = try Row.fetchOne(db, sql: "SELECT * FROM item")
      try writer.insert(2)
      return try code { try writer.writeWithoutTransaction { db in try db.truncateLog() } }
    }
    #expect(during == .busy)
    try writer.writeWithoutTransaction { db in try db.truncateLog() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.path + "-wal")).isEmpty)
  }

  @Test("A file that can't be written is read as immutable by its URI")
  func immutable() throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    try connection.insert(7)
    try connection.close()
    let reader = try DatabaseConnection(path: "file:\(scratch.path)?immutable=1", isReadOnly: true)
    #expect(try reader.integers() == [7])
  }

  @Test("A backup by VACUUM INTO has the same rows")
  func backup() throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    for value in [1, 2, 3] { try connection.insert(value) }
    let copy = scratch.folder + "/copy.db"
    try connection.writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [copy]) }
    #expect(try DatabaseConnection(path: copy).integers() == [1, 2, 3])
  }

  @Test("A use within a use throws, and another connection can be used")
  func reentrancy() throws {
    let scratch = try Scratch()
    let (one, two) = (try scratch.openWithTable(), try scratch.open())
    try one.writeWithoutTransaction { db in
      #expect(try code { try one.insert(1) } == .misuse)
      #expect(try code { try one.close() } == .misuse)
      try two.insert(2)
    }
    #expect(try one.integers() == [2])
  }

  @Test("Several threads use one connection in turn")
  func threads() async throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for value in 0..<50 { group.addTask { try connection.insert(value) } }
      try await group.waitForAll()
    }
    #expect(try connection.integers() == Array(0..<50))
  }

  @Test("A closed connection throws, and one with a statement in use stays open")
  func closing() throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    try connection.insert(1)
    var rows: RowCursor? = try connection.writeWithoutTransaction { db in
      try Row.fetchCursor(db, sql: "SELECT value FROM item")
    }
    #expect(try rows?.next()?.integer(0) == 1)
    #expect(try code { try connection.close() } == .busy)
    rows = nil
    let cached = try connection.read { db in try db.cachedStatement(sql: "SELECT 1") }
    try connection.close()
    try connection.close()
    #expect(try code { _ = try connection.integers() } == .misuse)
    #expect(try code { try cached.execute() } == .misuse)
  }

  @Test("A cursor outlives its connection")
  func outliving() throws {
    let scratch = try Scratch()
    try scratch.openWithTable().insert(5)
    let rows = try scratch.open().writeWithoutTransaction { db in
      try Row.fetchCursor(db, sql: "SELECT value FROM item")
    }
    #expect(try rows.next()?.integer(0) == 5)
    #expect(try rows.next()?.values == nil)
  }
}
