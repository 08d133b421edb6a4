import Crypto
import GRDB
import Logging
import SDKProtocol

/// An editor of the backups. It destroys in them the keys that were destroyed in the state, and rewraps them under the
/// state's current keys.
struct BackupEditor: Sendable {
  let folder: BackupFolder

  /// Destroys keys in all backups. A backup in which a key can't be destroyed is deleted, and `logger` gets an error.
  ///
  /// - Throws: `StoreOpenError` when the folder can't be read, or a backup can neither be changed nor deleted.
  func remove(_ removals: [Removal], _ vault: Vault, _ logger: Logger) throws {
    guard !removals.isEmpty else { return }
    for backup in try folder.all() {
      do {
        let concerns = { db in try removals.contains { try InstanceRow.fetch($0.uuid, db) != nil } }
        try edit(backup, if: concerns) { db, version in
          if version < StoreSchema.censusVersion { try Self.takeCensus(vault.wrapping, before3: nil, db) }
          for removal in removals { try Self.remove(removal, vault, db) }
        }
      } catch {
        try folder.remove(backup)
        logger.error(
          """
          The backup \(backup.name) was deleted, because a destroyed key could not be removed from it: \
          \(StoreFailure.text(error)). Make a new one: sdkctl backup.
          """)
      }
    }
  }

  /// Counts the instances of a backup from before schema version 4 and writes its first census.
  private static func takeCensus(_ wrapping: WrappingKey, before3 master: SymmetricKey?, _ db: Database) throws {
    guard let keyring = try StateKeyTable.load(db, wrapping) ?? master.map(Keyring.init(before3:)) else {
      throw StoreOpenError.corrupt("its keys do not open")
    }
    try CensusTable.write(CensusKeys(keyring.outboxNames), db)
  }

  private static func remove(_ removal: Removal, _ vault: Vault, _ db: Database) throws {
    let uuid = removal.uuid
    if let tag = removal.tag {
      return try OutboxWriter(db: db, vault: vault, uuid: uuid).delete(tag: tag)
    }
    guard let row = try InstanceRow.fetch(uuid, db) else { return }
    if removal.isWipe, let id = InstanceID(row.id) {
      let change = InstanceChange(uuid: uuid, id: id, kind: KindName("copy"), parts: [.wipe])
      do {
        _ = try ChangeWriter.apply(change, at: .now, vault: vault, db)
        return
      } catch is SDKError {
        // The instance does not open, so it can't be wiped and is deleted instead.
      }
    }
    _ = try InstanceTable.delete(uuid, vault: vault, db)
  }

  /// Rewraps all backups under the current master key and the first of `roots`.
  ///
  /// - Returns: the backups for which this failed, with the reasons.
  func adopt(
    master: SymmetricKey, wrapping: WrappingKey, roots: [RootKey]
  ) -> [(name: String, problem: String)] {
    guard let target = roots.first else { return [] }
    let backups: [StateBackup]
    do throws(StoreOpenError) { backups = try folder.all() } catch {
      return [("backups", StoreFailure.text(error))]
    }
    return backups.compactMap { backup in
      do {
        try adopt(backup, master: master, wrapping: wrapping, target: target, roots: roots)
        return nil
      } catch {
        return (backup.name, StoreFailure.text(error))
      }
    }
  }

  private func adopt(
    _ backup: StateBackup, master: SymmetricKey, wrapping: WrappingKey, target: RootKey, roots: [RootKey]
  ) throws {
    let path = folder.file(backup.name)
    let connection = try StoreConnection.copy(at: path)
    // Opening a file that was copied by hand changes its journal mode, so its time is restored afterwards.
    defer { folder.setTime(of: path, to: backup.createdAt) }
    let isUpToDate = try connection.read { db in
      guard try StoreSchema.version(of: db) == StoreSchema.version,
        let unlocked = try MetaTable.unlock(db, roots: roots)
      else { return false }
      return unlocked.root == 0 && unlocked.master == master
    }
    try connection.close()
    if isUpToDate { return }
    try edit(backup) { db, version in
      guard let unlocked = try MetaTable.unlock(db, roots: roots) else { return }
      if unlocked.master != master {
        _ = try KeyTable.rewrap(from: WrappingKey(master: unlocked.master), to: wrapping, db)
      }
      try MetaTable.write(master, under: target, stateID: unlocked.stateID, db)
      if version < StoreSchema.censusVersion { try Self.takeCensus(wrapping, before3: master, db) }
    }
  }

  /// Migrates a backup to the current schema and changes it with `body`, in one transaction. The file keeps its time.
  /// `body` gets the schema version from before the migration. A backup for which `isConcerned` is false stays
  /// unchanged.
  private func edit(
    _ backup: StateBackup, if isConcerned: (Database) throws -> Bool = { _ in true },
    _ body: (Database, Int) throws -> Void
  ) throws {
    let path = folder.file(backup.name)
    let connection = try StoreConnection.copy(at: path)
    defer {
      try? connection.close()
      folder.setTime(of: path, to: backup.createdAt)
    }
    try connection.writeWithoutTransaction { db in
      // A single transaction: every read outside a transaction would lock the file and look for a journal again.
      try db.inTransaction(.immediate) {
        try StoreSchema.compare(db)
        guard try isConcerned(db) else { return .rollback }
        let version = try StoreSchema.version(of: db)
        try StoreSchema.migrate(db, from: version)
        try body(db, version)
        return .commit
      }
    }
  }
}
