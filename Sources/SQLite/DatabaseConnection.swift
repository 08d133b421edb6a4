import Glibc

/// A connection to a database, which one thread at a time uses.
///
/// Other threads wait. A use blocks its thread, which must not be one of tasks or of an event loop. A use within a use,
/// on the same thread, throws `misuse`: it would wait for itself.
public final class DatabaseConnection: @unchecked Sendable {
  private let database: Database
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  /// Opens a database, and creates it if it is missing.
  ///
  /// - Parameters:
  ///   - path: The path, or a URI that begins with `file:`.
  ///   - isReadOnly: Whether the file is opened for reading only. Then it must exist.
  ///   - busyTimeout: The seconds to wait for locks of other connections.
  ///   - prepare: The function that sets up the connection before its first use.
  public init(
    path: String, isReadOnly: Bool = false, busyTimeout: Double = 0,
    prepare: (Database) throws -> Void = { _ in }
  ) throws {
    let database = try Database(path: path, isReadOnly: isReadOnly)
    do {
      try database.setUp(busyTimeout: busyTimeout, prepare)
    } catch {
      database.abandon()
      throw error
    }
    self.database = database
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, .init(PTHREAD_MUTEX_ERRORCHECK))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  /// Opens a new database in memory.
  public convenience init() throws { try self.init(path: ":memory:") }

  deinit {
    // Breaks the circle of the database and its cached statements.
    database.abandon()
    pthread_mutex_destroy(mutex)
    mutex.deinitialize(count: 1)
    mutex.deallocate()
  }

  /// Returns the result of `body`, which reads from one snapshot and can't write.
  public func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try exclusively { database in try database.reading { try body(database) } }
  }

  /// Returns the result of `body`, whose writes are committed together, or undone if it throws.
  public func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try exclusively { database in try database.isolated(.immediate) { try body(database) } }
  }

  /// Returns the result of `body`, which begins and ends transactions itself. One that it leaves open stays open.
  public func writeWithoutTransaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
    try exclusively(body)
  }

  /// Closes the connection. Later uses throw.
  ///
  /// - Throws: `busy` if a statement or a cursor is still used. The connection then stays open.
  public func close() throws { try exclusively { database in try database.close() } }

  private func exclusively<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let code = pthread_mutex_lock(mutex)
    guard code == 0 else {
      throw DatabaseError(resultCode: .misuse, message: "the connection is in use by this thread already")
    }
    defer { pthread_mutex_unlock(mutex) }
    return try body(database)
  }
}
