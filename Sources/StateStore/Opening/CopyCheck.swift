import GRDB
import SDKProtocol

/// The check of a database that is to become the state.
enum CopyCheck {
  /// Checks the schema and content of a database, and marks it as a backup if it is not marked yet.
  ///
  /// - Parameters:
  ///   - roots: the root keys, one of which must open the database; `nil` if they are not known.
  ///   - time: the time of the backup, used if the database does not contain it.
  /// - Returns: the time of the state in the database.
  static func check(_ path: String, roots: [RootKey]?, at time: Timestamp) throws(StoreOpenError) -> Timestamp {
    do {
      let connection = try StoreConnection.copy(at: path)
      defer { try? connection.close() }
      return try connection.writeWithoutTransaction { db in
        guard try StoreSchema.version(of: db) > 0 else { throw StoreOpenError.corrupt("it is empty") }
        try StoreSchema.check(db)
        if let roots {
          _ = try MetaTable.unlock(db, roots: roots)
        } else if try MetaTable.wrapped(db) == nil {
          throw StoreOpenError.corrupt("it has no master key")
        }
        if let copied = try MetaTable.copied(db) { return copied }
        // A database that was copied by hand is a backup too: credentials in it may have been used up since.
        try db.inTransaction(.immediate) {
          try MetaTable.setCopied(time, db)
          return .commit
        }
        return time
      }
    } catch let error as StoreOpenError {
      throw error
    } catch {
      throw .corrupt(StoreFailure.text(error))
    }
  }
}
