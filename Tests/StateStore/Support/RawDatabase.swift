import Foundation
import SQLite

/// Access to the database without the keys, as an attacker with the file has.
struct RawDatabase {
  /// A row with the names of its columns.
  struct NamedRow {
    let columnNames: [String]
    let values: [DatabaseValue]

    subscript(name: String) -> DatabaseValue {
      zip(columnNames, values).first { $0.0 == name }?.1 ?? .null
    }
  }

  private let connection: DatabaseConnection

  init(_ directory: TemporaryDirectory) throws {
    connection = try DatabaseConnection(path: directory.database)
  }

  func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
    try connection.write { db in try db.execute(sql: sql, arguments: arguments) }
  }

  func rows(_ sql: String) throws -> [NamedRow] {
    try connection.read { db in
      let statement = try db.cachedStatement(sql: sql)
      let rows = try Row.fetchAll(statement)
      return rows.map { NamedRow(columnNames: statement.columnNames, values: $0.values) }
    }
  }

  func data(_ sql: String) throws -> [Data] { try connection.read { db in try Data.fetchAll(db, sql: sql) } }

  func integers(_ sql: String) throws -> [Int64] {
    try connection.read { db in try Int64.fetchAll(db, sql: sql) }
  }

  func texts(_ sql: String) throws -> [String] {
    try connection.read { db in try String.fetchAll(db, sql: sql) }
  }

  /// Restores an earlier version of the row of `table` whose column `key` has the same value.
  func restore(_ table: String, key: String, _ row: NamedRow) throws {
    let columns = row.columnNames.filter { $0 != key }
    let assignments = columns.map { "\($0) = ?" }.joined(separator: ", ")
    try execute("UPDATE \(table) SET \(assignments) WHERE \(key) = ?", columns.map { row[$0] } + [row[key]])
  }

  func close() throws { try connection.close() }
}
