import SDKProtocol
import SQLite

/// A comparison of the generation of a database that is being opened with the other records of it.
struct RollbackCheck {
  /// The entry of the file beside the database.
  let record: GenerationRecord.Entry?
  /// The entries of the newest backups.
  let backups: [GenerationRecord.Entry]

  init(_ record: GenerationRecord, _ folder: BackupFolder, at time: Timestamp) throws(StoreOpenError) {
    self.record = record.read()
    backups = try folder.backups(at: time).prefix(BackupFolder.triedCount).compactMap { backup in
      try? Self.entry(of: folder.file(backup.name))
    }
  }

  /// Returns whether the records show a newer generation, another state ID or a newer schema than the database has.
  func isOutdated(_ entry: GenerationRecord.Entry, version: Int) -> Bool {
    if record != nil, version < StoreSchema.censusVersion { return true }
    if let record, record.stateID != entry.stateID || record.generation > entry.generation { return true }
    return backups.contains { $0.stateID == entry.stateID && $0.generation > entry.generation }
  }

  private static func entry(of path: String) throws -> GenerationRecord.Entry? {
    let connection = try StoreConnection.reader(at: path)
    defer { try? connection.close() }
    return try connection.read { db in
      guard try StoreSchema.version(of: db) >= StoreSchema.censusVersion, let wrapped = try MetaTable.wrapped(db) else {
        return nil
      }
      return GenerationRecord.Entry(stateID: wrapped.stateID, generation: try MetaTable.generation(db))
    }
  }
}
