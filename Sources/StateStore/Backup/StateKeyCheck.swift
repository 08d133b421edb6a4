import Linux
import SDKProtocol
import SQLite

/// The result of testing keys on a state. The test changes nothing and also works while the state is in use.
public struct StateKeyCheck: Sendable, Hashable {
  /// Whether there is a state, or a backup of one, with a wrapped master key.
  public var isSealed = false
  /// Whether `root.key` in the directory opens the state.
  public var fileOpens = false
  /// Whether the given key opens the state.
  public var keyOpens = false

  /// Tests `root.key` and `key` on the state in a directory, or on its newest backups if the database can't be read.
  public init(directory: String, key: RootKey?) throws(StoreOpenError) {
    let file = (try? RootKeyFile.present(at: directory + "/root.key")) ?? nil
    let folder = BackupFolder(path: directory + "/backups")
    let backups = try folder.backups(at: .now).prefix(BackupFolder.triedCount).map { folder.file($0.name) }
    for path in [directory + "/state.db"] + backups {
      guard let wrapped = try? Self.wrapped(at: path) else { continue }
      func opens(_ key: RootKey?) -> Bool {
        guard let key else { return false }
        return (try? MasterKey.open(wrapped.key, under: [key], stateID: wrapped.stateID)) != nil
      }
      (isSealed, fileOpens, keyOpens) = (true, opens(file), opens(key))
      return
    }
  }

  private static func wrapped(at path: String) throws -> (stateID: String, key: MasterKey.Wrapped)? {
    // Fails if the database is missing, so that none is created.
    _ = try OwnedDescriptor(readingFile: path)
    do {
      return try wrapped(StoreConnection.reader(at: path, patience: patience))
    } catch  where StoreFailure.isPassing(error) {
      // A daemon on a full disk holds the database, and its write-ahead log has no other master key.
      return try wrapped(StoreConnection.immutable(at: path))
    }
  }

  /// The seconds to wait for a lock: a daemon that can write holds none for long.
  private static let patience = 1.0

  private static func wrapped(_ connection: DatabaseConnection) throws -> (stateID: String, key: MasterKey.Wrapped)? {
    defer { try? connection.close() }
    return try connection.read { db in
      try StoreSchema.version(of: db) > 0 ? try MetaTable.wrapped(db) : nil
    }
  }
}

/// The check of a database that is to become the state.
enum CopyCheck {
  /// The facts about a database that is good.
  struct Content {
    /// The time of the state in it.
    let copiedAt: Timestamp
    /// The instances whose data was destroyed in it since.
    let losses: BackupLosses
  }

  /// Checks the schema and content of a database, and marks it as a backup if it is not marked yet.
  ///
  /// - Parameters:
  ///   - roots: the root keys, one of which must open the database; `nil` if they are not known.
  ///   - time: the time of the backup, used if the database does not contain it.
  /// - Throws: `unwritable` when the database can't be checked now, for example on a full disk; `corrupt` or `keyMissing`
  ///   when it is not good.
  static func check(_ path: String, roots: [RootKey]?, at time: Timestamp) throws(StoreOpenError) -> Content {
    do {
      let connection = try StoreConnection.copy(at: path)
      defer { try? connection.close() }
      return try connection.writeWithoutTransaction { db in
        // The content of a write-ahead log is in the file itself only once the mode has changed.
        guard try String.fetchOne(db, sql: "PRAGMA journal_mode") == "delete" else {
          throw StoreOpenError.corrupt("its write-ahead log can't be applied")
        }
        guard try StoreSchema.version(of: db) > 0 else { throw StoreOpenError.corrupt("it is empty") }
        try StoreSchema.check(db)
        if let roots {
          _ = try MetaTable.unlock(db, roots: roots)
        } else if try MetaTable.wrapped(db) == nil {
          throw StoreOpenError.corrupt("it has no master key")
        }
        let losses = try BackupLosses(of: db)
        if let copied = try MetaTable.copied(db) { return Content(copiedAt: copied, losses: losses) }
        // A database that was copied by hand is a backup too: credentials in it may have been used up since.
        try db.inTransaction(.immediate) {
          try MetaTable.setCopied(time, db)
          return .commit
        }
        return Content(copiedAt: time, losses: losses)
      }
    } catch let error as StoreOpenError {
      throw error
    } catch {
      let why = StoreFailure.text(error)
      throw StoreFailure.isPassing(error) ? .unwritable("\(path): \(why)") : .corrupt(why)
    }
  }
}
