import CSQLite

/// A connection to a database, in a closure that uses it. It must not leave that closure.
public final class Database {
  /// The connection in SQLite; `nil` once it is closed.
  private(set) var handle: OpaquePointer?
  private var cache: [String: Statement] = [:]
  /// Whether statements that write are refused.
  var refusesWrites = false
  /// Whether the code in progress relies on the transaction in which it began.
  var reliesOnTransaction = false

  /// The maximum number of cached statements. A program with more different texts compiles them again.
  private static let cacheLimit = 200

  /// Opens a connection that only one thread at a time uses.
  init(path: String, isReadOnly: Bool) throws {
    var opened: OpaquePointer?
    let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI | SQLITE_OPEN_EXRESCODE
    let code = sqlite3_open_v2(path, &opened, flags, nil)
    guard code == SQLITE_OK else {
      sqlite3_close(opened)
      throw DatabaseError(resultCode: ResultCode(rawValue: code))
    }
    handle = opened
  }

  /// Sets up a connection that was just opened. Fails if the file is not a database.
  ///
  /// - Parameter busyTimeout: the seconds to wait for locks of other connections.
  func setUp(busyTimeout: Double, _ prepare: (Database) throws -> Void) throws {
    sqlite3_busy_timeout(handle, Int32(exactly: (busyTimeout * 1000).rounded()) ?? .max)
    let code = csqlite_refuse_quoted_texts(handle)
    guard code == SQLITE_OK else { throw error(code) }
    try execute(sql: "PRAGMA foreign_keys = ON")
    try prepare(self)
    _ = try Row.fetchOne(self, sql: "SELECT * FROM sqlite_schema LIMIT 1")
  }

  /// Closes the connection. It stays open if a statement outside of the cache is left.
  func close() throws {
    guard let handle else { return }
    clearCache()
    let code = sqlite3_close(handle)
    guard code == SQLITE_OK else { throw error(code) }
    self.handle = nil
  }

  /// Closes the connection once no statement is left.
  func abandon() {
    clearCache()
    sqlite3_close_v2(handle)
    handle = nil
  }

  private func clearCache() {
    for statement in cache.values { statement.finalize() }
    cache = [:]
  }

  /// Returns the error for a code that a function of SQLite has just returned for this connection.
  func error(_ code: Int32) -> DatabaseError {
    let message: UnsafePointer<CChar>? = handle.flatMap { sqlite3_errmsg($0) }
    return DatabaseError(resultCode: ResultCode(rawValue: code), message: message.map { String(cString: $0) })
  }

  // MARK: Statements

  /// Runs one or more statements, which take the arguments in turn, and ignores their rows.
  public func execute(sql: String, arguments: StatementArguments = []) throws {
    var rest = arguments[...]
    try sql.withCString { start in
      var next = start
      while next.pointee != 0 {
        let (statement, end) = try compile(next)
        guard end > next else { return }
        next = end
        guard let statement else { continue }
        let taken = rest.prefix(statement.argumentCount)
        rest = rest.dropFirst(taken.count)
        try statement.execute(arguments: Array(taken))
      }
    }
    guard rest.isEmpty else {
      throw DatabaseError(resultCode: .misuse, message: "\(rest.count) arguments without a placeholder")
    }
  }

  /// Returns a statement that is compiled once for each text and connection, or a new one while that is in use.
  public func cachedStatement(sql: String) throws -> Statement {
    if let statement = cache[sql] {
      return statement.isInUse ? try makeStatement(sql: sql) : statement
    }
    let statement = try makeStatement(sql: sql, isCached: true)
    if cache.count >= Self.cacheLimit { cache = [:] }
    cache[sql] = statement
    return statement
  }

  /// Compiles a single statement.
  func makeStatement(sql: String, isCached: Bool = false) throws -> Statement {
    try sql.withCString { start in
      let (statement, end) = try compile(start, isCached: isCached)
      guard let statement else { throw DatabaseError(resultCode: .misuse, message: "empty statement") }
      guard try compile(end).statement == nil else {
        throw DatabaseError(resultCode: .misuse, message: "more than one statement")
      }
      return statement
    }
  }

  /// Compiles the first statement of a text; `nil` if that is empty. Also returns the end of the statement.
  private func compile(
    _ start: UnsafePointer<CChar>, isCached: Bool = false
  ) throws -> (statement: Statement?, end: UnsafePointer<CChar>) {
    guard let handle else { throw DatabaseError.closed }
    var compiled: OpaquePointer?
    var end: UnsafePointer<CChar>?
    let flags = isCached ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sqlite3_prepare_v3(handle, start, -1, flags, &compiled, &end)
    guard code == SQLITE_OK else { throw error(code) }
    return (compiled.map { Statement($0, of: self) }, end ?? start)
  }

  // MARK: Results

  /// The number of rows that the last INSERT, UPDATE or DELETE has changed.
  public var changesCount: Int { handle.map { Int(sqlite3_changes($0)) } ?? 0 }

  /// The row ID of the last INSERT.
  public var lastInsertedRowID: Int64 { handle.map { sqlite3_last_insert_rowid($0) } ?? 0 }

  /// Returns whether there is a table with this name.
  public func tableExists(_ name: String) throws -> Bool {
    let statement = try cachedStatement(sql: "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
    return try Row.fetchOne(statement, arguments: [name]) != nil
  }
}
