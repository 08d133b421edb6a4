import Crypto
import GRDB
import SDKProtocol

/// Everything between a directory and an open state; run on a thread that may block.
struct StateOpening {
  let directory: StateDirectory
  let connection: DatabaseQueue
  let vault: Vault
  let meta: StoreMeta
  /// What went wrong without keeping the state from being opened, for the journal.
  private(set) var problems: [String] = []

  /// - Parameters:
  ///   - withhold: what a restored copy must not take up again.
  ///   - time: now.
  init(
    directory path: String, rootKey source: RootKeySource, withhold: Withholding, at time: Timestamp
  ) throws(StoreOpenError) {
    directory = try StateDirectory(path)
    let replacement = StateReplacement(directory: directory)
    try replacement.finish()
    let isNew = try !directory.hasDatabase()
    let roots = try RootKeys(source, in: directory, isNewState: isNew)
    var repair: StateRepair?
    let opened: Opened
    do {
      opened = try Self.open(directory, roots, withhold, at: time)
    } catch {
      guard case .corrupt(let damage) = error else { throw error }
      repair = try StateRepair.run(replacement, roots: roots, damage: damage, at: time)
      opened = try Self.open(directory, roots, withhold, at: time)
    }
    (connection, vault) = (opened.connection, opened.vault)
    meta = StoreMeta(
      stateID: opened.stateID, restartCount: opened.restarts, rootKey: roots.origin, repair: repair,
      copiedAt: opened.copiedAt)
    let left = BackupEditor(folder: BackupFolder(in: directory))
      .adopt(master: opened.master, wrapping: vault.wrapping, roots: roots.candidates)
    problems = left.map { "The copy \($0.name) does not open with the present keys: \($0.problem)" }
    // The file's key may still be needed by copies that could not be brought under the credential.
    if roots.isFileLeft, left.isEmpty { try RootKeyFile.remove(in: directory) }
  }

  private struct Opened {
    let connection: DatabaseQueue
    let vault: Vault
    let master: SymmetricKey
    let stateID: String
    let restarts: Int
    let copiedAt: Timestamp?
  }

  private static func open(
    _ directory: StateDirectory, _ roots: RootKeys, _ withhold: Withholding, at time: Timestamp
  ) throws(StoreOpenError) -> Opened {
    try directory.prepareDatabaseFile()
    do {
      let connection = try StoreConnection.writer(at: directory.database)
      do {
        return try connection.writeWithoutTransaction { db in
          try unlock(db, connection, roots, withhold, at: time)
        }
      } catch {
        try? connection.close()
        throw error
      }
    } catch let error as StoreOpenError {
      throw error
    } catch {
      throw StoreFailure.isDamage(error)
        ? .corrupt(StoreFailure.text(error)) : .unwritable("\(directory.path): \(StoreFailure.text(error))")
    }
  }

  private static func unlock(
    _ db: Database, _ connection: DatabaseQueue, _ roots: RootKeys, _ withhold: Withholding, at time: Timestamp
  ) throws -> Opened {
    let version = try StoreSchema.version(of: db)
    try StoreSchema.check(db)
    // With the wrong key nothing is written, not even a migration.
    let known = version > 0 ? try MetaTable.unlock(db, roots: roots.candidates) : nil
    try StoreSchema.migrate(db, from: version)
    var opened: Opened?
    try db.inTransaction(.immediate) {
      let master = known?.master ?? SymmetricKey(size: .bits256)
      let copiedAt = try MetaTable.copied(db)
      // Places in a copy's events are given anew, so no cursor of the state that it was copied from may mean one.
      let stateID =
        copiedAt == nil ? known?.stateID ?? InstanceUUID.random().description : InstanceUUID.random().description
      if known == nil || known?.root != 0 || copiedAt != nil {
        try MetaTable.write(master, under: roots.target, stateID: stateID, db)
      }
      let wrapping = try WrappingKey(master: master)
      let keyring: Keyring
      if let loaded = try StateKeyTable.load(db, wrapping) {
        keyring = loaded
      } else {
        keyring = known == nil ? Keyring() : Keyring(before3: master)
        try StateKeyTable.insert(keyring, wrapping, db)
      }
      let vault = try Vault(master: master, root: roots.target, keyring: keyring, stateID: stateID)
      if copiedAt != nil { try RestoredCopy.settle(vault, withhold, at: time, db) }
      opened = Opened(
        connection: connection, vault: vault, master: master, stateID: stateID,
        restarts: try MetaTable.countOpening(db), copiedAt: copiedAt)
      return .commit
    }
    guard let opened else { throw StoreOpenError.corrupt("no master key") }
    // What a wipe before a crash left in the log; if it does not work now, the writer tries again.
    _ = try? db.checkpoint(.truncate)
    return opened
  }
}
