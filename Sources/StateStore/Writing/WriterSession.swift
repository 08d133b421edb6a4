import Logging
import SDKProtocol
import SQLite

/// The writer's handling of batches of changes and of a disk that fails.
///
/// Only the writer's queue uses this object.
final class WriterSession {
  let tuning: StoreTuning
  let database: DatabaseHolder
  let vault: Vault
  let folder: BackupFolder
  private let generation: GenerationRecord
  private let stateID: String
  private let status: StoreStatus
  let clock: @Sendable () -> Timestamp
  private let logger: Logger

  private(set) var recovery: RecoveryPause
  private var isProbeScheduled = false
  private var isRemovalScheduled = false
  /// Whether a destroyed key may still be in the log; true at first because of keys destroyed before a crash.
  var isLogToBeEmptied = true
  /// The destroyed keys that the backups may still have; `nil` until those from before a crash are read.
  private var removals: OpenRemovals?
  /// Whether keys from before a restart were read whose removal has not begun.
  private var hasFoundRemovals = false
  /// The number of the newest removal run.
  private var newestRun: UInt64 = 0
  /// The number of the newest removal run that has ended.
  private var newestEndedRun: UInt64 = 0
  private let retention: @Sendable () -> EventRetention
  private var pruner: EventPruner
  /// The generation that is on disk and not recorded in the file beside the database yet.
  private var raised: UInt64?

  init(
    database: DatabaseHolder, vault: Vault, folder: BackupFolder, status: StoreStatus,
    generation: GenerationRecord, stateID: String, clock: @escaping @Sendable () -> Timestamp,
    retention: @escaping @Sendable () -> EventRetention, tuning: StoreTuning, logger: Logger,
    failure: (any Error)? = nil
  ) {
    self.database = database
    self.vault = vault
    self.folder = folder
    self.status = status
    self.generation = generation
    self.stateID = stateID
    self.clock = clock
    self.retention = retention
    pruner = EventPruner(vault)
    self.tuning = tuning
    self.logger = logger
    recovery = RecoveryPause(first: tuning.firstPause, longest: tuning.longestPause)
    if let failure { fails(failure, isDamaged: false) }
  }

  /// Makes the changes in one transaction and returns a result for each, once they are on disk.
  func perform(_ changes: [InstanceChange]) -> [Result<CommitResult, SDKError>] {
    if let refusal = recovery.refusal { return changes.map { _ in .failure(refusal) } }
    var results: [Result<CommitResult, SDKError>]
    do {
      try takeUpRemovals()
      // A failure to empty the log is harmless before the changes. After them the log is so small that a failure is
      // unlikely.
      if changes.contains(where: \.removesKeys) { try emptyLog() }
      results = try database.use { db in try write(changes, db) }
    } catch {
      return changes.map { _ in .failure(failed(error)) }
    }
    for (change, result) in zip(changes, results) {
      guard case .success(let done) = result else { continue }
      pruner.note(done.events)
      if change.removesKeys { isLogToBeEmptied = true }
    }
    if let failure = emptyOldLog() {
      for (index, change) in changes.enumerated() where change.removesKeys {
        results[index] = results[index].map { CommitResult(events: $0.events, wiped: $0.wiped, unfinished: failure) }
      }
    } else {
      succeeded()
    }
    return results
  }

  private func write(_ changes: [InstanceChange], _ db: Database) throws -> [Result<CommitResult, SDKError>] {
    var results: [Result<CommitResult, SDKError>] = []
    var noted: [Removal] = []
    var generation: UInt64?
    try db.inTransaction(.immediate) {
      try tuning.at(.begun(changes: changes.count), db)
      let time = clock()
      if changes.contains(where: \.removesKeys) {
        if let ended = removals?.takeEnded() { try RemovalTable.remove(ended, db) }
        generation = try MetaTable.raiseGeneration(db)
      }
      results = try changes.map { try write($0, at: time, &noted, db) }
      try tuning.at(.committing, db)
      return .commit
    }
    raised = generation ?? raised
    if !noted.isEmpty { removals?.note(noted) }
    return results
  }

  private func write(
    _ change: InstanceChange, at time: Timestamp, _ noted: inout [Removal], _ db: Database
  ) throws -> Result<CommitResult, SDKError> {
    var result = CommitResult()
    var removed: [Removal] = []
    do {
      try db.inSavepoint {
        result = try ChangeWriter.apply(change, at: time, vault: vault, db)
        if change.removesKeys {
          removed = try RemovalTable.note(change, storageEpoch: result.wiped?.storageEpoch, vault, db)
        }
        return .commit
      }
      noted += removed
      return .success(result)
    } catch let error as SDKError {
      return .failure(error)
    } catch  where StoreFailure.isOfOneStatement(error) {
      logger.error("A change could not be stored: \(StoreFailure.text(error))")
      return .failure(StoreFailure.refusal(error))
    }
  }

  private func emptyLog() throws {
    try database.use { db in
      try tuning.at(.emptyingLog, db)
      try db.truncateLog()
    }
    isLogToBeEmptied = false
  }

  /// Removes destroyed keys from the log, with a second attempt on a new connection. Returns the error if a key may
  /// still be there.
  func emptyOldLog() -> SDKError? {
    var refusal: SDKError?
    for _ in 0..<2 where isLogToBeEmptied {
      do { try emptyLog() } catch { refusal = failed(error) }
    }
    guard isLogToBeEmptied, let refusal else { return nil }
    return .storeUnavailable(
      "The change is on disk, but the old key could not be removed from the log (\(refusal.message)); "
        + "the store goes on trying.")
  }

  // MARK: Backups

  /// Takes up the removal of keys that were destroyed before a restart. If that fails, the probes of the disk repeat it.
  func beginRemovals() {
    guard recovery.current == nil else { return }
    do { try takeUpRemovals() } catch { _ = failed(error) }
  }

  /// Removes keys that were destroyed before a failure or a restart from the log, and reads those that the backups may
  /// still have.
  private func takeUpRemovals() throws {
    if isLogToBeEmptied { try emptyLog() }
    try readRemovals()
  }

  /// Reads the keys that were destroyed before a restart.
  func readRemovals() throws {
    guard removals == nil else { return }
    let found = OpenRemovals(try database.use { db in try RemovalTable.all(db) })
    removals = found
    hasFoundRemovals = !found.isEmpty
  }

  /// Returns whether keys from before a restart were read since the last call.
  func takeFoundRemovals() -> Bool {
    defer { hasFoundRemovals = false }
    return hasFoundRemovals
  }

  /// The destroyed keys that the backups may still have.
  var openRemovals: [Removal] { removals?.all.removals ?? [] }

  /// Returns the next removal of all keys that the backups may still have; `nil` if they have none.
  func nextRun() -> RemovalRun? {
    guard let removals, !removals.isEmpty else { return nil }
    let (all, transaction) = removals.all
    newestRun += 1
    let editor = BackupEditor(folder: folder, committing: { [tuning] in try tuning.at(.editedCopy, nil) })
    return RemovalRun(
      number: newestRun, removals: all, transaction: transaction, editor: editor, vault: vault, tuning: tuning,
      logger: logger)
  }

  /// Ends a removal, which is repeated later if backups are left. The backups that it has left do not replace those of a
  /// later run that has ended before it.
  func ended(_ run: RemovalRun, _ left: [UnfinishedBackup]) {
    if left.isEmpty { removals?.end(upTo: run.transaction) }
    let newest = run.number > newestEndedRun ? left : status.unfinishedBackups
    newestEndedRun = max(newestEndedRun, run.number)
    let present = removals?.isEmpty == false ? newest : []
    let former = status.set(present)
    for backup in present where !former.contains(where: { $0.name == backup.name }) {
      logger.error(
        """
        The backup \(backup.name) still holds keys that were destroyed, and can't be changed now (\(backup.problem)). \
        sdkd repeats that until it succeeds or the backup is deleted.
        """)
    }
    if present.isEmpty, !former.isEmpty { logger.notice("No backup holds a destroyed key any more.") }
  }

  /// Removes the destroyed keys from the backups now. No removal may be in progress. Returns the backups that can't be
  /// changed now.
  func settleRemovals() throws -> [UnfinishedBackup] {
    try readRemovals()
    guard let run = nextRun() else { return [] }
    let left = run.run()
    ended(run, left)
    return left
  }

  /// Returns the time to wait until the next removal; `nil` if none is needed or one is already scheduled.
  func takeRemovalPause() -> Duration? {
    guard !isRemovalScheduled, !status.unfinishedBackups.isEmpty else { return nil }
    isRemovalScheduled = true
    return tuning.removalPause
  }

  func endRemovalPause() { isRemovalScheduled = false }

  func succeeded() {
    recovery.reset()
    guard status.set(.ok) != .ok else { return }
    logger.notice("The store writes again.", metadata: ["messageID": "\(JournalMessage.storeWrites.id)"])
  }

  /// Records a failure, opens the database again, and returns the error for the waiting callers.
  func failed(_ error: any Error) -> SDKError {
    var isDamaged = StoreFailure.isDamage(error)
    do {
      try database.reopen()
    } catch {
      isDamaged = isDamaged || StoreFailure.isDamage(error)
      logger.log(
        level: recovery.current == nil ? .error : .debug,
        "The store could not be opened again: \(StoreFailure.text(error))")
    }
    return fails(error, isDamaged: isDamaged)
  }

  /// Refuses changes for a while, and reports the failure in the health and the journal.
  @discardableResult
  private func fails(_ error: any Error, isDamaged: Bool) -> SDKError {
    let refusal = StoreFailure.refusal(error)
    recovery.begin(with: refusal)
    let health = isDamaged ? StoreHealth.failing(refusal) : .degraded(refusal.message)
    if status.set(health) == .ok {
      logger.error(
        "The store can't write: \(StoreFailure.text(error))",
        metadata: ["messageID": "\(JournalMessage.storeFails.id)"])
    }
    return refusal
  }

  /// Returns the time to wait until the next probe; `nil` if none is needed or one is already scheduled.
  func takeProbePause() -> Duration? {
    guard !isProbeScheduled, let pause = recovery.current else { return nil }
    isProbeScheduled = true
    return pause
  }

  /// Makes a small write if the disk failed, and what a failure has left undone. If all succeeds, the store is healthy
  /// again.
  func probe() {
    isProbeScheduled = false
    guard recovery.current != nil else { return }
    do {
      try takeUpRemovals()
      try database.use { db in
        try db.inTransaction(.immediate) {
          try tuning.at(.begun(changes: 0), db)
          try MetaTable.probe(db)
          try tuning.at(.committing, db)
          return .commit
        }
      }
      succeeded()
    } catch {
      _ = failed(error)
    }
  }

  /// Applies retention to the instances that have just written.
  func prune() {
    guard recovery.current == nil else { return }
    do {
      try database.use { db in try pruner.prune(retention(), at: clock(), db) }
    } catch {
      pruner.forget()
      _ = failed(error)
    }
  }

  /// Applies retention to a piece of the log. Returns whether more pieces follow.
  func sweepPiece() -> Bool {
    guard recovery.current == nil else { return false }
    do {
      return try database.use { db in try pruner.sweepPiece(retention(), at: clock(), db) }
    } catch {
      pruner.forget()
      _ = failed(error)
      return false
    }
  }

  /// Closes the database under a new generation, so that a copy of its file made while it was open is recognized as
  /// outdated.
  func close() {
    let ended = removals?.takeEnded() ?? []
    if recovery.current == nil,
      let raised = try? database.use({ db in
        try RemovalTable.remove(ended, db)
        return try MetaTable.raiseGeneration(db)
      })
    {
      record(raised, isDurable: true)
    }
    database.close()
  }

  /// Records the generation of the last removal in the file beside the database. Runs after the group is committed,
  /// and does not wait for the disk.
  func recordGeneration() {
    guard let number = raised else { return }
    raised = nil
    record(number, isDurable: false)
  }

  /// Records a generation in the file beside the database.
  private func record(_ number: UInt64, isDurable: Bool) {
    do throws(StoreOpenError) {
      try generation.write(.init(stateID: stateID, generation: number), isDurable: isDurable)
    } catch {
      logger.error("A database that is put back later may not be noticed: \(StoreFailure.text(error))")
    }
  }
}

extension InstanceChange {
  /// Whether the change may destroy a key.
  var removesKeys: Bool {
    parts.contains { part in
      switch part {
      case .wipe, .delete, .deleteOutbox: true
      default: false
      }
    }
  }
}
