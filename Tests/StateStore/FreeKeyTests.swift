import CSQLite
import Testing

@testable import SQLite
@testable import StateStore

/// The free slots of the table of keys.
@Suite struct FreeKeyTests {
  /// Returns a database with `count` instances, each with a key.
  private func database(_ count: Int) throws -> DatabaseConnection {
    let connection = try DatabaseConnection()
    try connection.write { db in
      try StoreSchema.migrate(db, from: 0)
      for number in 0..<count { try create(number, db) }
    }
    return connection
  }

  /// Makes an instance with a key; returns its slot.
  @discardableResult
  private func create(_ number: Int, _ db: Database) throws -> Int64 {
    let slot = try KeyTable.take(db)
    try db.execute(
      sql: "INSERT INTO instance VALUES (?, ?, 0, 0, 0, ?, x'', x'')", arguments: ["\(number)", "\(number)", slot])
    try KeyTable.overwrite(slot, .init(repeating: 1, count: DataKey.wrappedBytes), db)
    return slot
  }

  private func delete(_ number: Int, _ db: Database) throws {
    let slot = try #require(
      try Int64.fetchOne(db, sql: "SELECT slot FROM instance WHERE uuid = ?", arguments: ["\(number)"]))
    try db.execute(sql: "DELETE FROM instance WHERE uuid = ?", arguments: ["\(number)"])
    try KeyTable.clear(slot, db)
  }

  /// Counts the steps of SQLite's virtual machine.
  private func steps(_ db: Database, _ work: () throws -> Void) rethrows -> Int {
    let count = Counter()
    sqlite3_progress_handler(
      db.handle, 1,
      { pointer in
        pointer.map { Unmanaged<Counter>.fromOpaque($0).takeUnretainedValue().value += 1 }
        return 0
      }, Unmanaged.passUnretained(count).toOpaque())
    defer { sqlite3_progress_handler(db.handle, 0, nil, nil) }
    try work()
    return count.value
  }

  private final class Counter { var value = 0 }

  @Test("A new key takes as many steps with many instances as with few")
  func takesTheSameStepsWithMany() throws {
    let counts = try [100, 2000].map { count in
      try database(count).write { db in try steps(db) { try create(count, db) } }
    }
    #expect(counts[0] > 0)
    #expect(counts[1] <= counts[0] * 11 / 10, "\(counts)")
  }

  @Test("A key that was cleared is used again, also by another connection")
  func isUsedAgain() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/keys.db"
    for round in 0..<2 {
      let connection = try DatabaseConnection(path: path)
      try connection.write { db in
        if round == 0 {
          try StoreSchema.migrate(db, from: 0)
          for number in 0..<4 { try create(number, db) }
        }
        try delete(2, db)
      }
      // Only the first round takes the slot in the connection that cleared it.
      if round == 0 { #expect(try connection.write { db in try create(2, db) } == 3) }
      try connection.close()
    }
    let connection = try DatabaseConnection(path: path)
    #expect(try connection.write { db in try [create(2, db), create(5, db)] } == [3, 5])
  }

  @Test("A change that is rolled back takes and frees no key")
  func followsRollbacks() throws {
    let connection = try database(3)
    try connection.writeWithoutTransaction { db in
      try db.inTransaction {
        try delete(1, db)
        let slot = try create(7, db)
        #expect(slot == 2)
        return .rollback
      }
      try db.inTransaction {
        let slot = try create(8, db)
        #expect(slot == 4)
        return .commit
      }
      try db.inSavepoint {
        try delete(0, db)
        return .rollback
      }
      try db.inTransaction {
        let slot = try create(9, db)
        #expect(slot == 5)
        return .commit
      }
    }
  }
}
