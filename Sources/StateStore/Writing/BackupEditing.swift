import Dispatch
import Logging
import SDKProtocol
import Synchronization

/// The removal of destroyed keys from the backups, on a queue of its own. Only the callers who destroyed keys wait for
/// it, and other changes are committed meanwhile. No caller waits for a backup that can't be changed at once.
final class BackupEditing: Sendable {
  /// A change that is on disk, and whose caller waits for the backups.
  typealias Waiting = (commit: PendingCommit, result: CommitResult)

  private struct State {
    var waiting: [Waiting] = []
    var isRunning = false
  }

  private let queue = DispatchQueue(label: "sdkd.store.backups")
  private let state = Mutex(State())

  /// Adds a change that is on disk.
  func add(_ waiting: Waiting) { state.withLock { $0.waiting.append(waiting) } }

  /// Removes and returns those who wait, because the backups have no destroyed key.
  func takeWaiting() -> [Waiting] {
    state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  /// Whether callers wait for the next removal.
  var hasWaiting: Bool { state.withLock { !$0.waiting.isEmpty } }

  /// Whether no removal runs and no caller waits.
  var isIdle: Bool { state.withLock { !$0.isRunning && $0.waiting.isEmpty } }

  /// Begins the next removal, for all who wait now. Does nothing while one runs: its end calls `begin` again.
  ///
  /// - Parameters:
  ///   - work: the removal.
  ///   - end: called on the backups' queue, with the callers to answer and the backups that could not be changed.
  func begin(_ work: BackupRemoval, _ end: @escaping @Sendable ([Waiting], [UnfinishedBackup]) -> Void) {
    let waiting = state.withLock { state -> [Waiting]? in
      guard !state.isRunning else { return nil }
      state.isRunning = true
      defer { state.waiting = [] }
      return state.waiting
    }
    guard let waiting else { return }
    queue.async { end(waiting, work.run()) }
  }

  /// Lets the next removal begin.
  func ended() { state.withLock { $0.isRunning = false } }

  /// Waits until a removal in progress has ended.
  func wait() { queue.sync {} }
}

/// A removal of destroyed keys from all backups.
struct BackupRemoval: Sendable {
  let removals: [Removal]
  /// The number of the last transaction that noted one of the removals.
  let number: UInt64
  let editor: BackupEditor
  let vault: Vault
  let tuning: StoreTuning
  let logger: Logger

  /// Makes the removal. Returns the backups that can't be changed now.
  func run() -> [UnfinishedBackup] {
    do { try tuning.at(.editingCopies, nil) } catch {
      return [UnfinishedBackup(name: "backups", problem: StoreFailure.text(error))]
    }
    return editor.remove(removals, vault, logger)
  }
}
