import GRDB

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
    // Fails if the database is missing, so that none is created.
    _ = try FileDescriptor(readingFile: path)
    let connection = try StoreConnection.reader(at: path)
    defer { try? connection.close() }
    return try connection.read { db in
      try StoreSchema.version(of: db) > 0 ? try MetaTable.wrapped(db) : nil
    }
  }
}
