import Cryptography
import Dispatch
import Linux
import Logging
import SDKProtocol
import SQLite
import Synchronization

/// A backup that may still hold destroyed keys, because it can't be changed now.
public struct UnfinishedBackup: Sendable, Hashable {
  /// The name of the backup, or of the folder if that can't be read.
  public var name: String
  /// The reason.
  public var problem: String
}

/// An editor of the backups. It destroys in them the keys that were destroyed in the state, and rewraps them under the
/// state's current keys.
struct BackupEditor: Sendable {
  let folder: BackupFolder
  /// A hook for tests that is called before each COMMIT. An error that it throws is handled as a disk failure.
  var committing: @Sendable () throws -> Void = {}

  /// Destroys keys in all backups, without waiting for other programs that use them, and removes what a crash left beside
  /// the backups. A damaged backup is deleted, and `logger` gets an error.
  ///
  /// - Returns: the backups that can't be changed now. They stay as they are.
  func remove(_ removals: [Removal], _ vault: Vault, _ logger: Logger) -> [UnfinishedBackup] {
    guard !removals.isEmpty else { return [] }
    var left = each { backup in try remove(removals, from: backup, vault, logger) }
    do throws(StoreOpenError) { try folder.discardLeftovers() } catch {
      // A folder that can't be read is named once.
      let found = UnfinishedBackup(name: "backups", problem: StoreFailure.text(error))
      if !left.contains(found) { left.append(found) }
    }
    return left
  }

  /// The maximum number of backups that are changed at the same time.
  private static let atOnce = 4

  /// Calls `body` for each backup, and for several at the same time: most of the time passes in waiting for the disk.
  ///
  /// The further threads are not those of Dispatch's global queues, which are the task pool: the disk may hang.
  ///
  /// - Returns: the backups for which that failed, by name, with the reasons.
  func each(_ body: @escaping @Sendable (StateBackup) throws -> Void) -> [UnfinishedBackup] {
    let backups: [StateBackup]
    do throws(StoreOpenError) { backups = try folder.all() } catch {
      return [UnfinishedBackup(name: "backups", problem: StoreFailure.text(error))]
    }
    let (walk, ended) = (BackupWalk(backups, body), DispatchSemaphore(value: 0))
    var threads = 0
    for _ in backups.prefix(Self.atOnce).dropFirst() {
      do throws(SystemCallError) {
        try SystemThread.start(name: "sdkd-backups") {
          walk.run()
          ended.signal()
        }
      } catch {
        // Fewer threads take longer.
        break
      }
      threads += 1
    }
    walk.run()
    for _ in 0..<threads { ended.wait() }
    return walk.left.sorted { $0.name < $1.name }
  }

  private func remove(_ removals: [Removal], from backup: StateBackup, _ vault: Vault, _ logger: Logger) throws {
    do {
      // No other program can change the backup between the first read of such a transaction and its first write. So the
      // check needs no lock for writing, which a backup that can only be read refuses.
      try edit(
        backup, in: .deferred, if: { db in try removals.contains { try Self.concerns($0, db) } }
      ) { db, version in
        if version < StoreSchema.censusVersion { try Self.takeCensus(vault.wrapping, before3: nil, db) }
        try Self.remove(removals, from: db, vault)
      }
    } catch  where StoreFailure.isDamage(error) {
      try folder.remove(backup)
      logger.error(
        """
        The backup \(backup.name) was deleted: it is damaged (\(StoreFailure.text(error))), so a destroyed key could \
        not be removed from it. Make a new one: sdkctl backup.
        """)
    }
  }

  /// Destroys keys in a backup that is open.
  static func remove(_ removals: [Removal], from db: Database, _ vault: Vault) throws {
    for removal in removals where try concerns(removal, db) { try remove(removal, vault, db) }
  }

  /// Returns whether a backup may hold a destroyed key. Its row of a wiped instance has another storage epoch than the
  /// state if the backup was made before the wipe, and a lower one than a state that was replaced since.
  private static func concerns(_ removal: Removal, _ db: Database) throws -> Bool {
    guard let row = try InstanceRow.fetch(removal.uuid, db) else { return false }
    if removal.isFormer, let epoch = removal.storageEpoch { return row.storageEpoch < epoch }
    return removal.tag != nil || row.storageEpoch != removal.storageEpoch
  }

  /// Counts the instances of a backup from before schema version 4 and writes its first census.
  private static func takeCensus(_ wrapping: WrappingKey, before3 master: SymmetricKey?, _ db: Database) throws {
    guard let keyring = try StateKeyTable.load(db, wrapping) ?? master.map(Keyring.init(before3:)) else {
      // Only a start and a rotation of keys know the former master key.
      throw StoreOpenError.keyMissing("It is of a former version and could not be changed at the start. Restart sdkd.")
    }
    try CensusTable.write(CensusKeys(keyring.outboxNames), db)
  }

  private static func remove(_ removal: Removal, _ vault: Vault, _ db: Database) throws {
    let uuid = removal.uuid
    if let tag = removal.tag {
      return try OutboxWriter(db: db, vault: vault, uuid: uuid).delete(tag: tag)
    }
    guard let row = try InstanceRow.fetch(uuid, db) else { return }
    if removal.storageEpoch != nil, let id = InstanceID(row.id) {
      let change = InstanceChange(uuid: uuid, id: id, kind: KindName("copy"), parts: [.wipe])
      let identity = (try? OpenInstance.fetch(uuid, vault, db))?.identity
      let hasUser = StoredIdentity.hasUser(identity.flatMap(StoredJSON.json))
      do {
        let wiped = try ChangeWriter.apply(change, at: .now, vault: vault, db).wiped
        // A later wipe of the state finds nothing here.
        if let wiped, hasUser || wiped.tokens > 0 || wiped.storage > 0 || wiped.pushes > 0 {
          try MetaTable.note(.wipe, of: uuid, id: row.id, db)
        }
        return
      } catch is SDKError {
        // The instance does not open, so it can't be wiped and is deleted instead.
        try checkMaster(vault, db)
      }
    }
    _ = try InstanceTable.delete(uuid, vault: vault, db)
    try MetaTable.note(.deletion, of: uuid, id: row.id, db)
  }

  /// Throws if no instance of a backup opens, because its keys lie under a former master key.
  private static func checkMaster(_ vault: Vault, _ db: Database) throws {
    guard (try? StateKeyTable.load(db, vault.wrapping)) != nil else {
      // Only a start and a rotation of keys know the former master key.
      throw StoreOpenError.keyMissing("Its keys lie under a former master key. Restart sdkd.")
    }
  }

  /// Rewraps all backups under the current master key and the first of `roots`.
  ///
  /// - Returns: the backups for which this failed, with the reasons.
  func adopt(
    master: SymmetricKey, wrapping: WrappingKey, roots: [RootKey]
  ) -> [UnfinishedBackup] {
    guard let target = roots.first else { return [] }
    return each { backup in
      try adopt(backup, master: master, wrapping: wrapping, target: target, roots: roots)
    }
  }

  private func adopt(
    _ backup: StateBackup, master: SymmetricKey, wrapping: WrappingKey, target: RootKey, roots: [RootKey]
  ) throws {
    let path = folder.file(backup.name)
    let connection = try StoreConnection.copy(at: path)
    // Opening a file that was copied by hand changes its journal mode, so its time is restored afterwards.
    var time = backup.createdAt
    defer { folder.setTime(of: path, to: time) }
    let isUpToDate = try connection.read { db in
      let version = try StoreSchema.version(of: db)
      if version > 0 { time = try MetaTable.copied(db) ?? time }
      guard version == StoreSchema.version,
        let unlocked = try MetaTable.unlock(db, roots: roots)
      else { return false }
      return unlocked.root == 0 && unlocked.master == master
    }
    try connection.close()
    if isUpToDate { return }
    try edit(backup, patience: StoreConnection.patience) { db, version in
      guard let unlocked = try MetaTable.unlock(db, roots: roots) else { return }
      if unlocked.master != master {
        _ = try KeyTable.rewrap(from: WrappingKey(master: unlocked.master), to: wrapping, db)
      }
      try MetaTable.write(master, under: target, stateID: unlocked.stateID, db)
      if version < StoreSchema.censusVersion { try Self.takeCensus(wrapping, before3: master, db) }
    }
  }

  /// Migrates a backup to the current schema and changes it with `body`, in one transaction. `body` gets the schema version
  /// from before the migration. A backup for which `isConcerned` is false stays unchanged.
  ///
  /// The file gets the time in the backup. Its own time may be that of an earlier change, which a crash has interrupted.
  ///
  /// - Parameters:
  ///   - patience: the seconds to wait for other programs that use the backup.
  ///   - kind: the kind of the transaction. A deferred one does not wait when it begins to write.
  private func edit(
    _ backup: StateBackup, patience: Double = 0, in kind: Database.TransactionKind = .immediate,
    if isConcerned: (Database) throws -> Bool = { _ in true }, _ body: (Database, Int) throws -> Void
  ) throws {
    let path = folder.file(backup.name)
    let connection = try StoreConnection.copy(at: path, patience: patience)
    var time = backup.createdAt
    defer {
      try? connection.close()
      folder.setTime(of: path, to: time)
    }
    try connection.writeWithoutTransaction { db in
      // A single transaction: every read outside a transaction would lock the file and look for a journal again.
      try db.inTransaction(kind) {
        try StoreSchema.compare(db)
        let version = try StoreSchema.version(of: db)
        guard version > 0 else { throw StoreOpenError.corrupt("it is empty") }
        time = try MetaTable.copied(db) ?? time
        guard try isConcerned(db) else { return .rollback }
        try StoreSchema.migrate(db, from: version)
        try body(db, version)
        try committing()
        return .commit
      }
    }
  }
}

/// A walk through backups, which several threads share. Each of them takes the next backup until none is left.
private final class BackupWalk: Sendable {
  private struct Progress {
    var backups: ArraySlice<StateBackup>
    var left: [UnfinishedBackup] = []
  }

  private let progress: Mutex<Progress>
  private let body: @Sendable (StateBackup) throws -> Void

  init(_ backups: [StateBackup], _ body: @escaping @Sendable (StateBackup) throws -> Void) {
    progress = Mutex(Progress(backups: backups[...]))
    self.body = body
  }

  /// The backups for which the function failed so far, with the reasons.
  var left: [UnfinishedBackup] { progress.withLock { $0.left } }

  func run() {
    while let backup = progress.withLock({ $0.backups.popFirst() }) {
      do { try body(backup) } catch {
        let unfinished = UnfinishedBackup(name: backup.name, problem: StoreFailure.text(error))
        progress.withLock { $0.left.append(unfinished) }
      }
    }
  }
}
