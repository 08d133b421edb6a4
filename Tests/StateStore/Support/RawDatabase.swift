import Foundation
import GRDB

/// Access to the database without the keys, as an attacker with the file has.
struct RawDatabase {
  private let queue: DatabaseQueue

  init(_ directory: TemporaryDirectory) throws { queue = try DatabaseQueue(path: directory.database) }

  func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
    try queue.write { db in try db.execute(sql: sql, arguments: arguments) }
  }

  func rows(_ sql: String) throws -> [Row] { try queue.read { db in try Row.fetchAll(db, sql: sql) } }

  func data(_ sql: String) throws -> [Data] { try queue.read { db in try Data.fetchAll(db, sql: sql) } }

  /// Restores an earlier version of the row of `table` whose column `key` has the same value.
  func restore(_ table: String, key: String, _ row: Row) throws {
    let columns = row.columnNames.filter { $0 != key }
    let assignments = columns.map { "\($0) = ?" }.joined(separator: ", ")
    let values = columns.map { row[$0] as DatabaseValue } + [row[key] as DatabaseValue]
    try execute("UPDATE \(table) SET \(assignments) WHERE \(key) = ?", StatementArguments(values))
  }

  func close() throws { try queue.close() }
}
