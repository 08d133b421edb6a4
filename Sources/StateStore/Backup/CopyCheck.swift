import SDKProtocol
import SQLite

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
