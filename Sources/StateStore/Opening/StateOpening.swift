import Cryptography
public import SDKProtocol
import SQLite

/// The opening of the state in a directory. It runs on a thread that may block.
struct StateOpening {
  let directory: StateDirectory
  let connection: DatabaseConnection
  let vault: Vault
  let meta: StoreMeta
  /// The problems that did not prevent the opening, for the journal.
  private(set) var problems: [String] = []
  /// The cause for which the state can only be read; `nil` if it can be written.
  private(set) var readOnlyCause: StoreOpenError?
  /// Opens the state again once its disk can be written.
  let openAgain: @Sendable () throws(StoreOpenError) -> DatabaseConnection

  /// Opens the state. Replaces a damaged database by the newest good backup. A state whose disk can't be written is opened
  /// for reading.
  ///
  /// - Parameters:
  ///   - withhold: the function that removes from a restored backup what must not be used again.
  ///   - time: the present time.
  init(
    directory path: String, rootKey source: RootKeySource, withhold: @escaping Withholding, at time: Timestamp
  ) throws(StoreOpenError) {
    directory = try StateDirectory(path)
    let replacement = StateReplacement(directory: directory)
    try replacement.finish()
    let hasDatabase = try directory.hasDatabase()
    let (record, folder) = (GenerationRecord(in: directory), BackupFolder(in: directory))
    // A first start records the generation 0 before its commit, so a higher one shows that there was a state.
    let hasRemains = try directory.hasRemains(besidesDatabase: hasDatabase) || (record.read()?.generation ?? 0) > 0
    let isNew = hasDatabase ? directory.beginsAnew : !hasRemains
    // Before the keys are read: without a database and backups, a missing key is not the problem.
    if !hasDatabase, !isNew, try folder.all().isEmpty { throw .corrupt(StateUnlocking.lost) }
    let roots = try RootKeys(source, in: directory, isNewState: isNew)
    let unlocking = StateUnlocking(
      directory: directory, roots: roots, hasRemains: hasRemains,
      rollback: try RollbackCheck(record, folder, at: time), withhold: withhold, time: time)
    openAgain = { () throws(StoreOpenError) in try unlocking.openIfThereIsRoom() }
    var repair: StateRepair?
    let opened: StateUnlocking.Opened
    do throws(StoreOpenError) {
      guard hasDatabase || isNew else { throw StoreOpenError.corrupt(StateUnlocking.lost) }
      opened = try unlocking.open()
    } catch {
      switch error {
      case .corrupt(let damage):
        repair = try StateRepair.run(replacement, roots: roots, damage: damage, at: time)
        opened = try unlocking.open()
      case .unwritable:
        guard hasDatabase, !isNew, DiskShortage.text(at: path) != nil, let found = try? unlocking.openToRead() else {
          throw error
        }
        opened = found
        readOnlyCause = error
      default: throw error
      }
    }
    if readOnlyCause != nil {
      (connection, vault) = (opened.connection, opened.vault)
      meta = StoreMeta(stateID: opened.stateID, restartCount: opened.restarts, rootKey: roots.origin)
      return
    }
    if roots.origin == .file { try RootKeyFile.settle(in: directory) }
    (connection, vault) = (opened.connection, opened.vault)
    meta = StoreMeta(
      stateID: opened.stateID, restartCount: opened.restarts, rootKey: roots.origin, repair: repair,
      copiedAt: opened.copiedAt, notice: opened.notice, losses: opened.losses)
    problems = opened.problems
    do throws(StoreOpenError) { try folder.discardLeftovers() } catch {
      problems.append("What a crash left in the backups could not be removed: \(StoreFailure.text(error))")
    }
    let left = BackupEditor(folder: folder)
      .adopt(master: opened.master, wrapping: vault.wrapping, roots: roots.candidates)
    problems += left.map { "The backup \($0.name) does not open with the present keys: \($0.problem)" }
    // Backups that could not be rewrapped under the credential may still need the key in the file.
    if roots.isFileLeft, left.isEmpty { try RootKeyFile.remove(in: directory) }
  }
}

/// The facts about a state and how it was opened.
public struct StoreMeta: Sendable, Hashable {
  /// The random ID of the state, created with it. A restored backup or a rolled-back database gets a new ID, which
  /// invalidates earlier cursors.
  public var stateID: String
  /// The number of openings of this state after the first one, durable before `open` returns.
  public var restartCount: Int
  /// The origin of the root key that wraps the state's master key.
  public var rootKey: RootKeyOrigin = .file
  /// The repair made by this opening; `nil` if the database was not damaged.
  public var repair: StateRepair?
  /// The time of the backup from which this opening restored the state; `nil` if none was restored.
  public var copiedAt: Timestamp?
  /// The notice that this opening wrote because the state differs from what the daemon last wrote; `nil` without one.
  public var notice: StateNotice?
  /// The losses of the backup that became the state in this opening.
  public var losses = BackupLosses()
}
