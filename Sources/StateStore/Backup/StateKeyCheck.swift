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
