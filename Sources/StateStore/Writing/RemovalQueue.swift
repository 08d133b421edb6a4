import Dispatch
import Logging
import SDKProtocol
import Synchronization

/// The queue of the writer on which destroyed keys are removed from the backups, one run after another. Only the callers
/// who destroyed keys wait for it, and other changes are committed meanwhile. No caller waits for a backup that can't be
/// changed at once.
final class RemovalQueue: Sendable {
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
  ///   - run: the removal.
  ///   - end: called on the backups' queue, with the callers to answer and the backups that could not be changed.
  func begin(_ run: RemovalRun, _ end: @escaping @Sendable ([Waiting], [UnfinishedBackup]) -> Void) {
    let waiting = state.withLock { state -> [Waiting]? in
      guard !state.isRunning else { return nil }
      state.isRunning = true
      defer { state.waiting = [] }
      return state.waiting
    }
    guard let waiting else { return }
    queue.async { end(waiting, run.run()) }
  }

  /// Lets the next removal begin.
  func ended() { state.withLock { $0.isRunning = false } }

  /// Waits until a removal in progress has ended.
  func wait() { queue.sync {} }
}

/// A removal of destroyed keys from all backups.
struct RemovalRun: Sendable {
  /// The number of the run. A later run has a higher one.
  let number: UInt64
  let removals: [Removal]
  /// The number of the last transaction that noted one of the removals.
  let transaction: UInt64
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

/// The destroyed keys that backups may still contain.
///
/// Only the writer's queue uses this value.
struct OpenRemovals {
  private var noted: [Removal.Key: (removal: Removal, number: UInt64)] = [:]
  private var settled: [Removal.Key] = []
  private var count: UInt64 = 0

  /// Creates the value with the keys that were destroyed before a restart.
  init(_ removals: [Removal]) { note(removals) }

  /// Whether the backups have no destroyed key.
  var isEmpty: Bool { noted.isEmpty }

  /// Adds keys that were destroyed just now. A key that is there already is to be removed once more.
  mutating func note(_ removals: [Removal]) {
    count += 1
    for removal in removals { noted[removal.key] = (removal, count) }
  }

  /// The removals to make, and the number of the last transaction that noted one of them.
  var all: (removals: [Removal], number: UInt64) { (noted.values.map(\.removal), count) }

  /// Ends the removals of `all`, because the backups have none of their keys any more.
  mutating func end(upTo number: UInt64) {
    let ended = noted.filter { $0.value.number <= number }.map(\.key)
    for key in ended { noted[key] = nil }
    settled += ended
  }

  /// Returns the ended removals whose notes in the database are to be deleted, each once.
  mutating func takeEnded() -> [Removal.Key] {
    defer { settled = [] }
    return settled
  }
}
