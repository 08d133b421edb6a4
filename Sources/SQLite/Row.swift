#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A row of a result. A column of another type than expected is `nil`, since a damaged file can contain any.
///
/// The rows of a cursor are read where SQLite has them: each is valid until the next one is read. `copy` keeps one.
public struct Row {
  private enum Storage {
    case current(RowCursor)
    case kept([DatabaseValue])
  }

  private let storage: Storage

  fileprivate init(of cursor: RowCursor) { storage = .current(cursor) }

  /// Creates a row with these values.
  public init(_ values: [DatabaseValue]) { storage = .kept(values) }

  /// The value of a column; NULL if there is no such column.
  public subscript(column: Int) -> DatabaseValue {
    switch storage {
    case .current(let cursor): cursor.statement.value(at: column)
    case .kept(let values): values.indices.contains(column) ? values[column] : .null
    }
  }

  /// All columns.
  public var values: [DatabaseValue] {
    switch storage {
    case .current(let cursor): cursor.statement.values
    case .kept(let values): values
    }
  }

  /// Returns a row that stays valid.
  public func copy() -> Row { Row(values) }

  public func data(_ column: Int) -> Data? { Data(databaseValue: self[column]) }

  public func text(_ column: Int) -> String? { String(databaseValue: self[column]) }

  public func integer(_ column: Int) -> Int64? { Int64(databaseValue: self[column]) }

  public func real(_ column: Int) -> Double? { Double(databaseValue: self[column]) }

  /// The 64 bits of an integer that was written with `UInt64.stored`.
  public func unsigned(_ column: Int) -> UInt64? { integer(column).map { UInt64(bitPattern: $0) } }
}

/// The rows of a statement that runs, one after the other.
///
/// The statement is reset when the rows have ended or failed, or when neither the cursor nor a row of it is used.
public final class RowCursor {
  fileprivate let statement: Statement
  private var hasEnded = true

  fileprivate init(_ statement: Statement, _ arguments: StatementArguments) throws {
    self.statement = statement
    try statement.begin(arguments)
    hasEnded = false
  }

  deinit { end() }

  /// Returns the next row; `nil` after the last one.
  public func next() throws -> Row? {
    guard !hasEnded else { return nil }
    do {
      if try statement.step() { return Row(of: self) }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  /// Ends the statement before its last row. Throws if SQLite can't commit what it has written.
  fileprivate func finish() throws {
    guard !hasEnded else { return }
    hasEnded = true
    try statement.finish()
  }

  private func end() {
    guard !hasEnded else { return }
    hasEnded = true
    statement.reset()
  }
}

extension Row {
  public static func fetchCursor(_ statement: Statement, arguments: StatementArguments = []) throws -> RowCursor {
    try RowCursor(statement, arguments)
  }

  public static func fetchCursor(
    _ db: Database, sql: String, arguments: StatementArguments = []
  ) throws -> RowCursor {
    try RowCursor(db.makeStatement(sql: sql), arguments)
  }

  /// Returns the first row; `nil` if there is none.
  public static func fetchOne(_ statement: Statement, arguments: StatementArguments = []) throws -> Row? {
    let cursor = try fetchCursor(statement, arguments: arguments)
    let row = try cursor.next()?.copy()
    try cursor.finish()
    return row
  }

  /// Returns the first row; `nil` if there is none.
  public static func fetchOne(_ db: Database, sql: String, arguments: StatementArguments = []) throws -> Row? {
    try fetchOne(db.makeStatement(sql: sql), arguments: arguments)
  }

  public static func fetchAll(_ statement: Statement, arguments: StatementArguments = []) throws -> [Row] {
    let cursor = try fetchCursor(statement, arguments: arguments)
    var rows: [Row] = []
    while let row = try cursor.next() { rows.append(row.copy()) }
    return rows
  }

  public static func fetchAll(_ db: Database, sql: String, arguments: StatementArguments = []) throws -> [Row] {
    try fetchAll(db.makeStatement(sql: sql), arguments: arguments)
  }
}
