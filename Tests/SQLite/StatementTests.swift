import Foundation
import Testing

@testable import SQLite

/// Statements, their arguments and their rows.
@Suite struct StatementTests {
  private static let samples: [DatabaseValue] = [
    .null, .integer(0), .integer(.min), .integer(.max), .real(0.1), .real(-.infinity), .real(.leastNonzeroMagnitude),
    .text(""),
    .text("ä€😀"), .text("a\u{0}b"), .blob(Data()), .blob(Data([0, 255])), .blob(Data(repeating: 7, count: 100_000)),
  ]

  @Test("Every value is read as it was written", arguments: samples)
  func values(value: DatabaseValue) throws {
    let connection = try memoryWithTable()
    try connection.insert(value)
    let rows = try connection.read { db in try Row.fetchAll(db, sql: "SELECT value, typeof(value) FROM item") }
    #expect(rows.map { $0[0] } == [value])
    let type =
      switch value {
      case .null: "null"
      case .integer: "integer"
      case .real: "real"
      case .text: "text"
      case .blob: "blob"
      }
    #expect(rows.first?.text(1) == type)
  }

  @Test("A column of another type is nil, and so is a column that does not exist")
  func otherTypes() throws {
    let row = try DatabaseConnection().read { db in
      try Row.fetchOne(db, sql: "SELECT 1, 2.5, 'three', x'04', NULL")
    }
    let found = try #require(row)
    #expect((0..<5).map { found.integer($0) } == [1, nil, nil, nil, nil])
    #expect((0..<5).map { found.real($0) } == [1, 2.5, nil, nil, nil])
    #expect((0..<5).map { found.text($0) } == [nil, nil, "three", nil, nil])
    #expect((0..<5).map { found.data($0) } == [nil, nil, nil, Data([4]), nil])
    #expect([-1, 5, .max].map { found[$0] } == [.null, .null, .null])
  }

  @Test("Unsigned integers keep their 64 bits", arguments: [0, 1, UInt64(Int64.max), UInt64.max])
  func unsigned(number: UInt64) throws {
    let connection = try memoryWithTable()
    try connection.insert(number.stored)
    let row = try connection.read { db in try Row.fetchOne(db, sql: "SELECT value FROM item") }
    #expect(row?.unsigned(0) == number)
  }

  @Test("Wrong UTF-8 in a text is repaired")
  func wrongText() throws {
    let text = try DatabaseConnection().read { db in
      try String.fetchOne(db, sql: "SELECT CAST(x'61FF62' AS TEXT)")
    }
    #expect(text == "a\u{FFFD}b")
  }

  @Test("A row of a cursor is read in place, and a copy of it stays")
  func cursors() throws {
    try DatabaseConnection().read { db in
      let rows = try Row.fetchCursor(db, sql: "SELECT 1 UNION SELECT 2")
      let first = try #require(try rows.next())
      #expect(first.integer(0) == 1)
      let copy = first.copy()
      #expect(try rows.next()?.integer(0) == 2)
      #expect(first.integer(0) == 2 && copy.integer(0) == 1)
      #expect(try rows.next()?.values == nil)
      #expect(try rows.next()?.values == nil)
      #expect(first[0] == .null && copy.values == [.integer(1)])
    }
  }

  @Test("A cached statement is compiled once, and again while it is in use")
  func caching() throws {
    try DatabaseConnection().read { db in
      let sql = "SELECT ? UNION SELECT 9"
      let statement = try db.cachedStatement(sql: sql)
      for number in 1...3 {
        #expect(try Row.fetchOne(statement, arguments: [number])?.integer(0) == Int64(number))
        #expect(try db.cachedStatement(sql: sql) === statement)
      }
      let rows = try Row.fetchCursor(statement, arguments: [4])
      #expect(try db.cachedStatement(sql: sql) !== statement)
      let numbers = try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [5]).map { $0.integer(0) }
      #expect(numbers == [5, 9])
      #expect(try rows.next()?.integer(0) == 4)
    }
  }

  @Test("A statement in use refuses another use")
  func secondUse() throws {
    try DatabaseConnection().read { db in
      let statement = try db.cachedStatement(sql: "SELECT ? UNION SELECT 9")
      let rows = try Row.fetchCursor(statement, arguments: [4])
      #expect(try code { _ = try Row.fetchOne(statement, arguments: [5]) } == .misuse)
      #expect(try code { try statement.execute(arguments: [5]) } == .misuse)
      #expect(try rows.next()?.integer(0) == 4)
      #expect(try rows.next()?.integer(0) == 9)
    }
  }

  @Test("A write that SQLite can't commit after its first row is an error")
  func failureAfterARow() throws {
    try DatabaseConnection().writeWithoutTransaction { db in
      try db.execute(
        sql: """
          CREATE TABLE one (id INTEGER PRIMARY KEY);
          CREATE TABLE two (one REFERENCES one (id) DEFERRABLE INITIALLY DEFERRED);
          """)
      let sql = "INSERT INTO two VALUES (1) RETURNING one"
      #expect(try code { _ = try Row.fetchOne(db, sql: sql) } == .constraint)
      #expect(try code { _ = try Int.fetchOne(db, sql: sql) } == .constraint)
      #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM two") == 0)
    }
  }

  @Test("Many different texts are forgotten again")
  func bound() throws {
    try DatabaseConnection().read { db in
      let first = try db.cachedStatement(sql: "SELECT 0")
      for number in 1...1000 { _ = try db.cachedStatement(sql: "SELECT \(number)") }
      #expect(try db.cachedStatement(sql: "SELECT 0") !== first)
      #expect(try Row.fetchOne(first)?.integer(0) == 0)
    }
  }

  @Test("A statement works again after it has failed")
  func failures() throws {
    let connection = try memoryWithTable()
    try connection.write { db in
      try db.execute(sql: "CREATE UNIQUE INDEX one ON item (value)")
      let insert = try db.cachedStatement(sql: "INSERT INTO item VALUES (?)")
      try insert.execute(arguments: [1])
      let found = #expect(throws: DatabaseError.self) { try insert.execute(arguments: [1]) }
      #expect(found?.resultCode == .constraint && found?.extendedResultCode.rawValue == 2067)
      #expect(found?.message == "UNIQUE constraint failed: item.value")
      try insert.execute(arguments: [2])
      #expect(db.lastInsertedRowID == 2)
    }
    #expect(try connection.integers() == [1, 2])
  }

  @Test("Statements in one text take the arguments in turn")
  func severalStatements() throws {
    let connection = try DatabaseConnection()
    try connection.write { db in
      try db.execute(
        sql: "CREATE TABLE item (value); -- first\n INSERT INTO item VALUES (?);; INSERT INTO item VALUES (?); -- last",
        arguments: [1, 2])
      #expect(try db.tableExists("item"))
      #expect(try !db.tableExists("other"))
    }
    #expect(try connection.integers() == [1, 2])
  }

  @Test(
    "Wrong statements and numbers of arguments are errors",
    arguments: [
      "SELECT ?", "SELECT ?, ?, ?", "", "-- nothing", "SELECT ?, ?; SELECT 1", "SELEC ?, ?", "SELECT \"word\"",
    ])
  func mistakes(sql: String) throws {
    try DatabaseConnection().read { db in
      #expect(throws: DatabaseError.self) { _ = try Row.fetchOne(db, sql: sql, arguments: [1, 2]) }
      #expect(throws: DatabaseError.self) { try db.execute(sql: sql, arguments: [1, 2, 3, 4]) }
    }
  }

  @Test("Python's binding reads what was written, and writes what is read")
  func python() throws {
    let scratch = try Scratch()
    let connection = try scratch.openWithTable()
    try connection.write { db in
      let values: StatementArguments = [Int64.max, 0.5, "ä€😀", Data(), DatabaseValue.null]
      for value in values { try db.execute(sql: "INSERT INTO item VALUES (?)", arguments: [value]) }
    }
    let printed = try scratch.python(
      """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      print(ascii([row[0] for row in db.execute("SELECT value FROM item ORDER BY rowid")]))
      for value in [-2**63, 0.25, "\\u00fc", b"", b"\\x00\\xff", None]:
          db.execute("INSERT INTO item VALUES (?)", [value])
      db.commit()
      """)
    #expect(printed == "[9223372036854775807, 0.5, '\\xe4\\u20ac\\U0001f600', b'', None]\n")
    let read = try connection.read { db in
      try DatabaseValue.fetchAll(db, sql: "SELECT value FROM item WHERE rowid > 5 ORDER BY rowid")
    }
    #expect(read == [.integer(.min), .real(0.25), .text("ü"), .blob(Data()), .blob(Data([0, 255])), .null])
  }
}
