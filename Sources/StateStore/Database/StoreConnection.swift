import SQLite

/// The configuration of connections to the database.
enum StoreConnection {
  /// Opens a connection to a new database in memory.
  static func memory() throws -> DatabaseConnection { try DatabaseConnection() }

  /// The seconds that a connection waits for a lock of another one; reads take milliseconds.
  static let patience = 5.0

  /// Opens the connection that writes. Each commit is on disk when it returns, and deleted data is overwritten.
  static func writer(at path: String) throws -> DatabaseConnection {
    try DatabaseConnection(path: path, busyTimeout: patience) { db in
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
  }

  /// Opens a connection to a backup or a staged database. Deleted data is overwritten.
  ///
  /// - Parameter patience: the seconds that the connection waits for other programs that use the database.
  static func copy(at path: String, patience: Double = patience) throws -> DatabaseConnection {
    try DatabaseConnection(path: path, busyTimeout: patience) { db in
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
  }

  /// Opens the only connection to a database on a disk that can't be written. It reads without any other file: SQLite
  /// keeps the index of the write-ahead log in memory.
  static func lone(at path: String) throws -> DatabaseConnection {
    try DatabaseConnection(path: path, busyTimeout: patience) { db in
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
  }

  /// Opens a database that has no write-ahead log and that nobody changes, also where no file can be created.
  static func immutable(at path: String) throws -> DatabaseConnection {
    let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
    // An empty host before the path. Otherwise the start of a path with two slashes would be the name of a host.
    let start = path.hasPrefix("/") ? "file://" : "file:"
    return try reader(at: "\(start)\(escaped)?immutable=1")
  }

  /// Opens the connection that reads beside the writer, without waiting for its commits.
  ///
  /// - Parameter patience: the seconds that the connection waits for locks of other ones.
  static func reader(at path: String, patience: Double = patience) throws -> DatabaseConnection {
    try DatabaseConnection(path: path, isReadOnly: true, busyTimeout: patience) { db in
      try db.execute(sql: "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON; PRAGMA trusted_schema = OFF;")
    }
  }
}
