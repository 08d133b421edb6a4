import CSQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A compiled statement of one connection. It must not leave the closure that got the `Database`.
public final class Statement {
  private let database: Database
  private var handle: OpaquePointer?
  /// Whether it has begun and was not reset since. Another use would end that one, and is refused.
  private(set) var isInUse = false

  init(_ handle: OpaquePointer, of database: Database) {
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  /// Frees the statement in SQLite, which closes no connection with statements. Later uses throw.
  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
    isInUse = false
  }

  /// The number of placeholders.
  var argumentCount: Int { handle.map { Int(sqlite3_bind_parameter_count($0)) } ?? 0 }

  /// The names of the columns.
  public var columnNames: [String] {
    guard let handle else { return [] }
    return (0..<max(0, sqlite3_column_count(handle))).map { column in
      let name: UnsafePointer<CChar>? = sqlite3_column_name(handle, column)
      return name.map { String(cString: $0) } ?? ""
    }
  }

  /// Runs the statement to its end, and ignores its rows.
  public func execute(arguments: StatementArguments = []) throws {
    try begin(arguments)
    defer { reset() }
    while try step() {}
  }

  // MARK: Steps

  /// Binds the arguments, so that the next step is the first one.
  func begin(_ arguments: StatementArguments) throws {
    guard let handle else { throw DatabaseError.closed }
    guard !isInUse else { throw DatabaseError(resultCode: .misuse, message: "the statement is in use") }
    try database.checkTransaction()
    if database.refusesWrites, sqlite3_stmt_readonly(handle) == 0 { throw DatabaseError(resultCode: .readOnly) }
    guard arguments.count == argumentCount else {
      throw DatabaseError(
        resultCode: .misuse, message: "\(arguments.count) arguments for \(argumentCount) placeholders")
    }
    for (index, argument) in arguments.enumerated() {
      let code = Self.bind(argument.databaseValue, at: Int32(clamping: index + 1), of: handle)
      guard code == SQLITE_OK else {
        let error = database.error(code)
        reset()
        throw error
      }
    }
    isInUse = true
  }

  /// Goes to the next row. Returns false after the last one; then it must be reset before another step.
  func step() throws -> Bool {
    guard let handle else { throw DatabaseError.closed }
    let code = sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    throw database.error(code)
  }

  /// Ends the statement, which releases its locks and the arguments. Returns SQLite's code: that of the last step, or
  /// of a commit that followed a row.
  @discardableResult
  func reset() -> Int32 {
    isInUse = false
    guard let handle else { return SQLITE_OK }
    let code = sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
    return code
  }

  /// Ends the statement after a row. Throws if SQLite can't commit what it has written.
  func finish() throws {
    let code = reset()
    guard code == SQLITE_OK else { throw database.error(code) }
  }

  // MARK: Values

  private static func bind(_ value: DatabaseValue, at index: Int32, of handle: OpaquePointer) -> Int32 {
    switch value {
    case .null: return sqlite3_bind_null(handle, index)
    case .integer(let integer): return sqlite3_bind_int64(handle, index, integer)
    case .real(let real): return sqlite3_bind_double(handle, index, real)
    case .text(var text):
      return text.withUTF8 { csqlite_bind_text(handle, index, $0.baseAddress, $0.count) }
    case .blob(let data):
      return data.withUnsafeBytes { csqlite_bind_blob(handle, index, $0.baseAddress, $0.count) }
    }
  }

  /// The columns of the present row.
  var values: [DatabaseValue] {
    guard let handle else { return [] }
    return (0..<Int(max(0, sqlite3_data_count(handle)))).map { value(at: $0) }
  }

  /// Returns a column of the present row; NULL without a row or such a column. Wrong UTF-8 in texts is repaired.
  func value(at column: Int) -> DatabaseValue {
    guard let handle, column >= 0, column < Int(sqlite3_data_count(handle)) else { return .null }
    let index = Int32(clamping: column)
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, index))
    case SQLITE_TEXT:
      // The pointer first: it may convert the text, which changes the number of bytes.
      guard let start = sqlite3_column_text(handle, index) else { return .null }
      let bytes = UnsafeBufferPointer(start: start, count: Int(max(0, sqlite3_column_bytes(handle, index))))
      return .text(String(decoding: bytes, as: UTF8.self))
    case SQLITE_BLOB:
      guard let start = sqlite3_column_blob(handle, index) else { return .blob(Data()) }
      return .blob(Data(bytes: start, count: Int(max(0, sqlite3_column_bytes(handle, index)))))
    default: return .null
    }
  }
}
