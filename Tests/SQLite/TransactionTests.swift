import Testing

@testable import SQLite

/// Transactions and savepoints: what is kept, and what is undone.
@Suite struct TransactionTests {
  private struct Stop: Error {}

  @Test("A write that throws leaves nothing behind")
  func writes() throws {
    let connection = try memoryWithTable()
    #expect(throws: Stop.self) {
      try connection.write { db in
        try db.execute(sql: "INSERT INTO item VALUES (1)")
        throw Stop()
      }
    }
    try connection.insert(2)
    #expect(try connection.integers() == [2])
  }

  @Test("A savepoint is undone alone")
  func savepoints() throws {
    let connection = try memoryWithTable()
    try connection.writeWithoutTransaction { db in
      try db.inTransaction {
        try db.execute(sql: "INSERT INTO item VALUES (1)")
        try db.inSavepoint {
          try db.execute(sql: "INSERT INTO item VALUES (2)")
          try db.inSavepoint {
            try db.execute(sql: "INSERT INTO item VALUES (3)")
            return .commit
          }
          return .rollback
        }
        #expect(throws: Stop.self) {
          try db.inSavepoint {
            try db.execute(sql: "INSERT INTO item VALUES (4)")
            throw Stop()
          }
        }
        try db.inSavepoint {
          try db.execute(sql: "INSERT INTO item VALUES (5)")
          return .commit
        }
        #expect(db.isInsideTransaction)
        return .commit
      }
      #expect(!db.isInsideTransaction)
      try db.inSavepoint {
        try db.execute(sql: "INSERT INTO item VALUES (6)")
        return .rollback
      }
      try db.inTransaction(.deferred) {
        try db.execute(sql: "INSERT INTO item VALUES (7)")
        return .rollback
      }
    }
    #expect(try connection.integers() == [1, 5])
  }

  @Test("After SQLite has rolled back, the rest of the transaction is refused")
  func rolledBack() throws {
    let connection = try memoryWithTable()
    let found = try code {
      try connection.write { db in
        try db.execute(sql: "INSERT INTO item VALUES (1)")
        try db.execute(sql: "ROLLBACK")
        try db.execute(sql: "INSERT INTO item VALUES (2)")
      }
    }
    #expect(found == .abort)
    #expect(try connection.integers() == [])
  }

  @Test("A savepoint that can't be undone undoes the whole transaction")
  func failedUndo() throws {
    let connection = try memoryWithTable()
    let found = try code {
      try connection.write { db in
        try? db.inSavepoint {
          try db.execute(sql: "INSERT INTO item VALUES (1); RELEASE step")
          throw Stop()
        }
        try db.execute(sql: "INSERT INTO item VALUES (2)")
      }
    }
    #expect(found == .abort)
    #expect(try connection.integers() == [])
  }

  @Test("A full disk undoes the whole transaction, and the connection works again afterwards")
  func fullDisk() throws {
    let connection = try memoryWithTable()
    try connection.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA max_page_count = 10")
      let found = try code {
        try db.inTransaction {
          try db.execute(sql: "INSERT INTO item VALUES (1)")
          try db.inSavepoint {
            try db.execute(sql: "INSERT INTO item VALUES (zeroblob(1000000))")
            return .commit
          }
          return .commit
        }
      }
      #expect(found == .full)
      #expect(!db.isInsideTransaction)
      try db.execute(sql: "PRAGMA max_page_count = 100000")
    }
    try connection.insert(2)
    #expect(try connection.integers() == [2])
  }

  @Test("A transaction within a transaction is an error")
  func nesting() throws {
    let connection = try memoryWithTable()
    try connection.write { db in
      #expect(throws: DatabaseError.self) { try db.inTransaction { .commit } }
      try db.execute(sql: "INSERT INTO item VALUES (1)")
    }
    #expect(try connection.integers() == [1])
  }

  @Test("A transaction that a use leaves open is continued by the next, and rollback without one does nothing")
  func openTransactions() throws {
    let connection = try memoryWithTable()
    try connection.writeWithoutTransaction { db in try db.beginTransaction() }
    try connection.insert(1)
    #expect(try connection.integers() == [1])
    try connection.writeWithoutTransaction { db in
      try db.rollback()
      try db.rollback()
    }
    #expect(try connection.integers() == [])
  }

  @Test("Foreign keys are enforced, and the failure of one statement leaves the transaction open")
  func foreignKeys() throws {
    let connection = try DatabaseConnection()
    try connection.write { db in
      try db.execute(sql: "CREATE TABLE one (id INTEGER PRIMARY KEY); CREATE TABLE two (one REFERENCES one (id))")
      try db.execute(sql: "INSERT INTO one VALUES (1)")
      let insert = try db.cachedStatement(sql: "INSERT INTO two VALUES (?)")
      let found = try code { try insert.execute(arguments: [2]) }
      #expect(found == .constraint)
      #expect(db.isInsideTransaction)
      try insert.execute(arguments: [1])
      #expect(db.changesCount == 1)
    }
    #expect(try connection.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM two") } == 1)
  }
}
