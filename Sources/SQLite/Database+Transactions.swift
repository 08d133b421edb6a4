import CSQLite

extension Database {
  /// The moment at which a transaction takes the lock for writing: with its first write, or at once.
  public enum TransactionKind: Sendable {
    case deferred
    case immediate
  }

  /// The end of a transaction or savepoint.
  public enum TransactionCompletion: Sendable {
    case commit
    case rollback
  }

  /// Whether a transaction is open.
  var isInsideTransaction: Bool { handle.map { sqlite3_get_autocommit($0) == 0 } ?? false }

  func beginTransaction(_ kind: TransactionKind = .immediate) throws {
    try run(kind == .immediate ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED")
  }

  func commit() throws { try run("COMMIT") }

  /// Rolls back the transaction; does nothing if SQLite has done so already, as it does on a full disk.
  func rollback() throws {
    if isInsideTransaction { try run("ROLLBACK") }
  }

  /// Runs `body` in a new transaction, which is rolled back if anything throws.
  public func inTransaction(
    _ kind: TransactionKind = .immediate, _ body: () throws -> TransactionCompletion
  ) throws {
    try beginTransaction(kind)
    try complete({ ((), try body()) }, commit: { try commit() }, rollback: { try rollback() })
  }

  /// Runs `body` in a savepoint of the open transaction, or in a new transaction. What it has written is undone if
  /// anything throws; if that fails, the whole transaction is.
  public func inSavepoint(_ body: () throws -> TransactionCompletion) throws {
    guard isInsideTransaction else { return try inTransaction(.immediate, body) }
    try run("SAVEPOINT step")
    try complete(
      { ((), try body()) },
      commit: { try run("RELEASE step") },
      rollback: {
        do {
          try run("ROLLBACK TO step")
          try run("RELEASE step")
        } catch {
          // A caller that goes on would commit a part of what `body` has written.
          try rollback()
          throw error
        }
      })
  }

  /// Runs `body` in the open transaction, or in a new one that is committed after it.
  func isolated<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
    if isInsideTransaction { return try body() }
    try beginTransaction(kind)
    return try complete({ (try body(), .commit) }, commit: { try commit() }, rollback: { try rollback() })
  }

  /// Runs `body` in one snapshot, and refuses statements that write.
  func reading<Value>(_ body: () throws -> Value) throws -> Value {
    let former = refusesWrites
    refusesWrites = true
    defer { refusesWrites = former }
    return try isolated(.deferred, body)
  }

  private func complete<Value>(
    _ body: () throws -> (Value, TransactionCompletion), commit: () throws -> Void, rollback: () throws -> Void
  ) throws -> Value {
    let former = reliesOnTransaction
    reliesOnTransaction = true
    defer { reliesOnTransaction = former }
    let result: (value: Value, completion: TransactionCompletion)
    do {
      result = try body()
      if result.completion == .commit {
        try checkTransaction()
        try commit()
      }
    } catch {
      // The first error is the cause.
      try? rollback()
      throw error
    }
    if result.completion == .rollback { try rollback() }
    return result.value
  }

  /// Throws if SQLite has rolled back the transaction on which the code in progress relies. Otherwise the next
  /// statements would be committed one by one.
  func checkTransaction() throws {
    if reliesOnTransaction, !isInsideTransaction {
      throw DatabaseError(resultCode: .abort, message: "the transaction was rolled back")
    }
  }

  /// Writes the whole write-ahead log into the database and empties it.
  ///
  /// - Throws: `busy` if another connection still reads from the log or writes.
  public func truncateLog() throws {
    guard let handle else { throw DatabaseError.closed }
    let code = sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    guard code == SQLITE_OK else { throw error(code) }
  }

  private func run(_ sql: String) throws { try cachedStatement(sql: sql).execute() }
}
