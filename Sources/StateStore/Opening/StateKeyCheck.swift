import GRDB

/// Which keys open a state. Nothing is changed, and the state may be in use.
public struct StateKeyCheck: Sendable, Hashable {
  /// Whether there is a state, or a backup of one, that lies under a key.
  public var isSealed = false
  /// Whether `root.key` in the directory opens it.
  public var fileOpens = false
  /// Whether the key that was given opens it.
  public var keyOpens = false

  /// Tries `root.key` and a key on the state in a directory, or on its newest backups where the database can't be read.
  public init(directory: String, key: RootKey?) throws(StoreOpenError) {
    let file = (try? RootKeyFile.present(at: directory + "/root.key")) ?? nil
    let folder = BackupFolder(path: directory + "/backups")
    let backups = try folder.copies().prefix(BackupFolder.triedCount).map { folder.file($0.name) }
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
    // A database that is missing is not made.
    _ = try FileDescriptor(readingFile: path)
    let connection = try StoreConnection.reader(at: path)
    defer { try? connection.close() }
    return try connection.read { db in
      try StoreSchema.version(of: db) > 0 ? try MetaTable.wrapped(db) : nil
    }
  }
}
