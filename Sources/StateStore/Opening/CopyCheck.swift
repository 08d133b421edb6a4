import GRDB
import SDKProtocol

/// Looks through a database that is to become the state.
enum CopyCheck {
  /// - Parameters:
  ///   - roots: the keys, one of which has to open it; `nil` when they are not known.
  ///   - time: taken for the moment of the copy if it does not say so itself.
  /// - Returns: the moment whose state it holds.
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
        // A database that was copied by hand is a copy too: what it holds may have been spent since.
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
