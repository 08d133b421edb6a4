import GRDB
import Synchronization

/// The configuration of connections to the database.
public enum StoreConnection {
  /// The connections opened since `keepAll` was called, which keeps them open; `nil` if it was not called.
  private static let kept = Mutex<[DatabaseQueue]?>(nil)

  /// Lets all connections from now on live as long as the process.
  ///
  /// The end of a `DatabaseQueue` starts a thread of libdispatch, which traps when it can't find its threads in
  /// `/proc`. A short process that can't read `/proc` calls this first.
  public static func keepAll() { kept.withLock { $0 = $0 ?? [] } }

  /// Returns a connection, which is kept if all are.
  private static func keeping(_ connection: DatabaseQueue) -> DatabaseQueue {
    kept.withLock { $0?.append(connection) }
    return connection
  }

  /// Opens a connection to a new database in memory.
  static func memory() throws -> DatabaseQueue { keeping(try DatabaseQueue()) }

  /// The seconds that a connection waits for a lock of another one; reads take milliseconds.
  static let patience = 5.0

  /// Opens the connection that writes. Each commit is on disk when it returns, and deleted data is overwritten.
  static func writer(at path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "sdkd.store.writer"
    configuration.busyMode = .timeout(patience)
    // GRDB traps when a transaction is left open. If a broken disk leaves one, the connection is closed instead.
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw StoreOpenError.unwritable("SQLite refuses write-ahead logging")
      }
      try db.execute(
        sql: """
          PRAGMA synchronous = FULL;
          PRAGMA secure_delete = ON;
          PRAGMA temp_store = MEMORY;
          PRAGMA journal_size_limit = 4194304;
          PRAGMA cell_size_check = ON;
          PRAGMA trusted_schema = OFF;
          """)
    }
    return keeping(try DatabaseQueue(path: path, configuration: configuration))
  }

  /// Opens a connection to a backup or a staged database. Deleted data is overwritten.
  ///
  /// - Parameter patience: the seconds that the connection waits for other programs that use the database.
  static func copy(at path: String, patience: Double = patience) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "sdkd.store.copy"
    configuration.busyMode = patience > 0 ? .timeout(patience) : .immediateError
    configuration.allowsUnsafeTransactions = true
    configuration.prepareDatabase { db in
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
      try db.execute(
        sql: """
          PRAGMA synchronous = EXTRA;
          PRAGMA secure_delete = ON;
          PRAGMA temp_store = MEMORY;
          PRAGMA cell_size_check = ON;
          PRAGMA trusted_schema = OFF;
          """)
    }
    return keeping(try DatabaseQueue(path: path, configuration: configuration))
  }

  /// Opens the only connection to a database on a disk that can't be written. It reads without any other file: SQLite
  /// keeps the index of the write-ahead log in memory.
  static func lone(at path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "sdkd.store.reader"
    configuration.busyMode = .timeout(patience)
    configuration.prepareDatabase { db in
      _ = try String.fetchOne(db, sql: "PRAGMA locking_mode = EXCLUSIVE")
      try db.execute(
        sql: """
          PRAGMA query_only = ON;
          PRAGMA temp_store = MEMORY;
          PRAGMA cell_size_check = ON;
          PRAGMA trusted_schema = OFF;
          """)
      _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema")
    }
    return keeping(try DatabaseQueue(path: path, configuration: configuration))
  }

  /// Opens a database that has no write-ahead log and that nobody changes, also where no file can be created.
  static func immutable(at path: String) throws -> DatabaseQueue {
    let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
    return try reader(at: "file:\(escaped)?immutable=1")
  }

  /// Opens the connection that reads beside the writer, without waiting for its commits.
  ///
  /// - Parameter patience: the seconds that the connection waits for locks of other ones.
  static func reader(at path: String, patience: Double = patience) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "sdkd.store.reader"
    configuration.readonly = true
    configuration.busyMode = .timeout(patience)
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;")
    }
    return keeping(try DatabaseQueue(path: path, configuration: configuration))
  }
}
