import Crypto
import GRDB
import SDKProtocol

/// Keeps the copies in line with the state: what is destroyed there is destroyed in them, and they open with the key
/// that it opens with.
struct BackupEditor {
  let folder: BackupFolder

  /// Destroys keys in all copies. A copy in which that can't be done is removed.
  ///
  /// - Throws: `StoreOpenError` when one can be neither changed nor removed.
  func remove(_ removals: [Removal], _ vault: Vault) throws {
    guard !removals.isEmpty else { return }
    for copy in try folder.copies() {
      do {
        let concerns = { db in try removals.contains { try InstanceRow.fetch($0.uuid, db) != nil } }
        try edit(copy, if: concerns) { db, version in
          if version < StoreSchema.censusVersion { try Self.takeCensus(vault.wrapping, before3: nil, db) }
          for removal in removals { try Self.remove(removal, vault, db) }
        }
      } catch {
        try folder.remove(copy)
      }
    }
  }

  /// Counts the instances of a copy that was made before there was a census.
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
        // It does not open: what can't be wiped is removed.
      }
    }
    _ = try InstanceTable.delete(uuid, vault: vault, db)
  }

  /// Brings all copies under the present keys.
  ///
  /// - Returns: those that could not be, with why.
  func adopt(
    master: SymmetricKey, wrapping: WrappingKey, roots: [RootKey]
  ) -> [(name: String, problem: String)] {
    guard let target = roots.first else { return [] }
    let copies: [StateBackup]
    do throws(StoreOpenError) { copies = try folder.copies() } catch { return [("backups", StoreFailure.text(error))] }
    return copies.compactMap { copy in
      do {
        try adopt(copy, master: master, wrapping: wrapping, target: target, roots: roots)
        return nil
      } catch {
        return (copy.name, StoreFailure.text(error))
      }
    }
  }

  private func adopt(
    _ copy: StateBackup, master: SymmetricKey, wrapping: WrappingKey, target: RootKey, roots: [RootKey]
  ) throws {
    let path = folder.file(copy.name)
    let connection = try StoreConnection.copy(at: path)
    // A file that was copied by hand is not in the mode that copies have, and becomes so by being opened.
    defer { folder.setTime(of: path, to: copy.createdAt) }
    let isUpToDate = try connection.read { db in
      guard try StoreSchema.version(of: db) == StoreSchema.version,
        let unlocked = try MetaTable.unlock(db, roots: roots)
      else { return false }
      return unlocked.root == 0 && unlocked.master == master
    }
    try connection.close()
    if isUpToDate { return }
    try edit(copy) { db, version in
      guard let unlocked = try MetaTable.unlock(db, roots: roots) else { return }
      if unlocked.master != master {
        _ = try KeyTable.rewrap(from: WrappingKey(master: unlocked.master), to: wrapping, db)
      }
      try MetaTable.write(master, under: target, stateID: unlocked.stateID, db)
      if version < StoreSchema.censusVersion { try Self.takeCensus(wrapping, before3: master, db) }
    }
  }

  /// Brings a copy to the present schema and changes it, in one transaction; its time stays the same. `body` gets the
  /// version that it had. A copy that is not to be changed is left as it is.
  private func edit(
    _ copy: StateBackup, if isConcerned: (Database) throws -> Bool = { _ in true },
    _ body: (Database, Int) throws -> Void
  ) throws {
    let path = folder.file(copy.name)
    let connection = try StoreConnection.copy(at: path)
    defer {
      try? connection.close()
      folder.setTime(of: path, to: copy.createdAt)
    }
    try connection.writeWithoutTransaction { db in
      // One transaction: each read outside of one locks the file, and looks for a journal, again.
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
