import Cryptography
import SDKProtocol
import SQLite

/// The unlocking of a state's database: opens it with its keys, migrates it to the current schema, and compares it with
/// the records of its last use.
struct StateUnlocking {
  /// An open state.
  struct Opened {
    let connection: DatabaseConnection
    let vault: Vault
    let master: SymmetricKey
    let stateID: String
    let restarts: Int
    let copiedAt: Timestamp?
    let notice: StateNotice?
    /// The losses of the backup that became the state.
    var losses = BackupLosses()
    /// The repairs of damage without loss, for the journal.
    var problems: [String] = []
  }

  /// The damage of a database that is missing or empty although there was a state.
  static let lost = "state.db is missing or empty"

  let directory: StateDirectory
  let roots: RootKeys
  /// Whether other files show that there was a state.
  let hasRemains: Bool
  let rollback: RollbackCheck
  let withhold: Withholding
  let time: Timestamp

  /// Opens a state that was opened for reading, if its disk can be written now.
  func openIfThereIsRoom() throws(StoreOpenError) -> DatabaseConnection {
    if let shortage = DiskShortage.text(at: directory.path) { throw .unwritable("\(directory.path): \(shortage)") }
    return try open().connection
  }

  func open() throws(StoreOpenError) -> Opened {
    try directory.prepareDatabaseFile()
    do {
      let connection = try StoreConnection.writer(at: directory.database)
      do {
        return try connection.writeWithoutTransaction { db in try unlock(db, connection) }
      } catch {
        try? connection.close()
        throw error
      }
    } catch let error as StoreOpenError {
      throw error
    } catch {
      throw StoreFailure.isDamage(error)
        ? .corrupt(StoreFailure.text(error))
        : .unwritable("\(directory.path): \(DiskShortage.text(at: directory.path) ?? StoreFailure.text(error))")
    }
  }

  /// Opens a state on a disk that can't be written, for reading. Returns `nil` if `open` would change more than the
  /// number of openings.
  func openToRead() throws -> Opened? {
    let connection = try directory.loneConnection()
    do {
      let opened = try connection.read { db in try readable(db, connection) }
      if opened == nil { try connection.close() }
      return opened
    } catch {
      try? connection.close()
      throw error
    }
  }

  private func readable(_ db: Database, _ connection: DatabaseConnection) throws -> Opened? {
    let version = try StoreSchema.version(of: db)
    guard version == StoreSchema.version else { return nil }
    try StoreSchema.check(db)
    guard let known = try MetaTable.unlock(db, roots: roots.candidates), try MetaTable.copied(db) == nil,
      try !isOutdated(known, version: version, db),
      let keyring = try StateKeyTable.load(db, try WrappingKey(master: known.master))
    else { return nil }
    let vault = try Vault(master: known.master, root: roots.target, keyring: keyring, stateID: known.stateID)
    guard try CensusTable.problem(vault.censusKeys, db) == nil else { return nil }
    return Opened(
      connection: connection, vault: vault, master: known.master, stateID: known.stateID,
      restarts: try MetaTable.openings(db), copiedAt: nil, notice: nil)
  }

  private func unlock(_ db: Database, _ connection: DatabaseConnection) throws -> Opened {
    let version = try StoreSchema.version(of: db)
    if version == 0, hasRemains, try !StoreSchema.beginsAnew(db) { throw StoreOpenError.corrupt(Self.lost) }
    let damaged = try StoreSchema.checkForReindexing(db)
    // With the wrong key, nothing is written, not even a migration.
    let known = version > 0 ? try MetaTable.unlock(db, roots: roots.candidates) : nil
    var opened: Opened?
    try db.inTransaction(.immediate) {
      if !damaged.isEmpty { try StoreSchema.reindex(damaged, db) }
      opened = try unlock(db, connection, version: version, known)
      if !damaged.isEmpty {
        opened?.problems.append(
          "Indexes of the database were damaged and were built again, without loss (\(damaged.sorted().joined(separator: ", "))). "
            + "Look at the disk.")
      }
      return .commit
    }
    guard let opened else { throw StoreOpenError.corrupt("no master key") }
    try GenerationRecord(in: directory).write(.init(stateID: opened.stateID, generation: MetaTable.generation(db)))
    // Removes old keys that a wipe before a crash left. `StoreWriter.beginRemovals` repeats it if it fails.
    try? db.truncateLog()
    return opened
  }

  private func unlock(
    _ db: Database, _ connection: DatabaseConnection, version: Int, _ known: MetaTable.Unlocked?
  ) throws -> Opened {
    try StoreSchema.migrate(db, from: version)
    let master = known?.master ?? SymmetricKey()
    let copiedAt = try MetaTable.copied(db)
    let isOutdated = try copiedAt == nil && isOutdated(known, version: version, db)
    // New events of a backup reuse positions, so it gets a new state ID, which invalidates earlier cursors.
    let isCopy = copiedAt != nil || isOutdated
    let stateID = (isCopy ? nil : known?.stateID) ?? InstanceUUID.random().description
    if known == nil || known?.root != 0 || isCopy {
      try MetaTable.write(master, under: roots.target, stateID: stateID, db)
    }
    let vault = try Vault(
      master: master, root: roots.target, keyring: keyring(known, master, db), stateID: stateID)
    let notice = try compare(db, vault, version: version, isOutdated: isOutdated)
    let losses = try isCopy ? RestoredCopy.settle(vault, withhold, at: time, db) : BackupLosses()
    let areGapsDamaged = try GapTable.repair(db, vault.censusKeys, at: time)
    var opened = Opened(
      connection: connection, vault: vault, master: master, stateID: stateID,
      restarts: try MetaTable.countOpening(db), copiedAt: copiedAt, notice: notice, losses: losses)
    if areGapsDamaged {
      opened.problems.append("The list of lost events is damaged. All readers of earlier events get a gap.")
    }
    _ = try MetaTable.raiseGeneration(db)
    // Before the commit: until then the database is still a backup or empty, and is not compared with this file.
    if stateID != known?.stateID { try GenerationRecord(in: directory).write(.init(stateID: stateID, generation: 0)) }
    return opened
  }

  private func isOutdated(_ known: MetaTable.Unlocked?, version: Int, _ db: Database) throws -> Bool {
    guard let known else { return false }
    return rollback.isOutdated(
      .init(stateID: known.stateID, generation: try MetaTable.generation(db)), version: version)
  }

  private func keyring(_ known: MetaTable.Unlocked?, _ master: SymmetricKey, _ db: Database) throws -> Keyring {
    let wrapping = try WrappingKey(master: master)
    if let loaded = try StateKeyTable.load(db, wrapping) { return loaded }
    let keyring = known == nil ? Keyring() : Keyring(before3: master)
    try StateKeyTable.insert(keyring, wrapping, db)
    return keyring
  }

  /// Compares the state with its census and generation, leaves a notice of differences, and accepts the state as it is.
  private func compare(_ db: Database, _ vault: Vault, version: Int, isOutdated: Bool) throws -> StateNotice? {
    var findings: [String] = []
    if isOutdated {
      findings.append(
        "The database is older than the one that sdkd wrote last: a copy of its file was put back, or the disk lost "
          + "changes. Users who have signed out since may be signed in again: look at sdkctl list and sign them out.")
    }
    let problem =
      version < StoreSchema.censusVersion ? nil : try CensusTable.problem(vault.censusKeys, db)
    if let problem {
      findings.append(
        "The database was changed by something else than sdkd: \(problem). Restore a backup with sdkctl restore, or make "
          + "the instances again.")
    }
    if version < StoreSchema.censusVersion || problem != nil { try CensusTable.write(vault.censusKeys, db) }
    return findings.isEmpty ? nil : try StateNotice.leave(findings, in: directory, at: time)
  }
}
