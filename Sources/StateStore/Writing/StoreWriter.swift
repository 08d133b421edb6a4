import Dispatch
import Logging
import SDKProtocol
import SQLite
import Synchronization

/// The writer, which serializes changes and commits them in groups, one transaction and one fsync for each group.
///
/// It runs on a queue of its own and never in a caller's task. So cancelling a caller can't undo its change, and an
/// fsync never blocks other tasks.
final class StoreWriter: Sendable {
  private struct Finish {
    var isDrained = false
    var isDone = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let queue = DispatchQueue(label: "sdkd.store.writer")
  private let commits: CommitQueue
  private let session: ConfinedSession
  private let removals = RemovalQueue()
  private let finish = Mutex(Finish())
  private let observer: TransactionObserver
  /// The start of work other than a transaction that may take long, such as a backup; `nil` without such work.
  private let longWorkBegan = Mutex<ContinuousClock.Instant?>(nil)

  init(session: WriterSession, queueLimit: Int, observer: @escaping TransactionObserver = { _ in }) {
    commits = CommitQueue(limit: queueLimit)
    self.session = ConfinedSession(session)
    self.observer = observer
  }

  /// Commits a change. Returns its result once it is on disk, or the reason why it was not made.
  func commit(_ change: InstanceChange) async -> Result<CommitResult, SDKError> {
    await withCheckedContinuation { continuation in
      switch commits.offer(PendingCommit(change: change, answer: continuation)) {
      case .accepted: break
      case .acceptedFirst: queue.async { self.drain() }
      case .full:
        continuation.resume(
          returning: .failure(.storeUnavailable("Too many changes wait for the disk; try again in a moment.")))
      case .closed:
        continuation.resume(returning: .failure(.storeUnavailable("The store is closing; nothing was changed.")))
      }
    }
  }

  /// Commits one group for each block on the queue, until no change waits. Other work on the queue runs between two
  /// groups, so that steady changes do not delay it.
  private func drain() {
    if commitGroup() { queue.async { self.drain() } }
  }

  /// Commits the next group. Returns `false` if no change waited; the next change then calls the writer again.
  private func commitGroup() -> Bool {
    let batch = commits.take(atMost: session.value.tuning.batchLimit)
    guard !batch.isEmpty else { return false }
    let start = ContinuousClock.now
    let results = session.value.perform(batch.map(\.change))
    observer(EndedTransaction(results, duration: start.duration(to: .now)))
    for (pending, result) in zip(batch, results) {
      if pending.change.removesKeys, case .success(let done) = result {
        removals.add((pending, done))
      } else {
        pending.answer.resume(returning: result)
      }
    }
    editBackupsIfDue()
    session.value.prune()
    session.value.recordGeneration()
    scheduleProbe()
    return true
  }

  /// Begins to remove destroyed keys from the backups if a caller waits for it, or if keys from before a restart were
  /// found.
  private func editBackupsIfDue() {
    if session.value.takeFoundRemovals() || removals.hasWaiting { editBackups() }
  }

  /// Begins to remove destroyed keys from the backups, unless that is in progress. Afterwards those are answered who
  /// waited when it began.
  private func editBackups() {
    guard let run = session.value.nextRun() else { return reply(to: removals.takeWaiting()) }
    removals.begin(run) { waiting, left in
      self.queue.async {
        self.session.value.ended(run, left)
        self.reply(to: waiting)
        self.removals.ended()
        if self.removals.hasWaiting { self.editBackups() }
        self.scheduleRemoval()
        self.finishIfIdle()
      }
    }
  }

  private func reply(to waiting: [RemovalQueue.Waiting]) {
    for (commit, result) in waiting { commit.answer.resume(returning: .success(result)) }
  }

  /// Removes the keys that were destroyed before a restart from the log and from the backups, where that was not
  /// finished. Repeats it until it succeeds, without waiting for a change.
  func beginRemovals() {
    queue.async { [weak self] in
      guard let self, !commits.isClosed else { return }
      session.value.beginRemovals()
      editBackupsIfDue()
      scheduleProbe()
    }
  }

  /// Schedules another removal while backups could not be changed.
  private func scheduleRemoval() {
    guard !commits.isClosed, let pause = session.value.takeRemovalPause() else { return }
    let nanoseconds = Int(pause / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self, !commits.isClosed else { return }
      session.value.endRemovalPause()
      editBackups()
    }
  }

  /// Starts the retention sweeps. The first sweep begins at once, for events that have expired since the last run.
  func beginSweeps() { queue.async { [weak self] in self?.sweep() } }

  /// Sweeps one piece at a time, so that a change waits for at most one piece.
  private func sweep() {
    guard !commits.isClosed else { return }
    if session.value.sweepPiece() { return queue.async { [weak self] in self?.sweep() } }
    scheduleProbe()
    let nanoseconds = Int(session.value.tuning.sweepInterval / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in self?.sweep() }
  }

  /// Schedules a probe of the disk while it fails, so that the store recovers without waiting for a change.
  private func scheduleProbe() {
    guard !commits.isClosed, let pause = session.value.takeProbePause() else { return }
    let nanoseconds = Int(pause / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self, !commits.isClosed else { return }
      session.value.probe()
      editBackupsIfDue()
      scheduleProbe()
    }
  }

  /// Runs `body` on the writer's queue between two transactions.
  func between<Value: Sendable>(_ body: @escaping @Sendable (WriterSession) -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async {
        self.longWorkBegan.withLock { $0 = .now }
        self.removals.wait()
        let value = body(self.session.value)
        self.longWorkBegan.withLock { $0 = nil }
        self.scheduleProbe()
        self.scheduleRemoval()
        continuation.resume(returning: value)
      }
    }
  }

  /// The time since work other than a transaction began; `nil` without such work.
  var longWork: Duration? { longWorkBegan.withLock { $0.map { $0.duration(to: .now) } } }

  /// Calls `body` on the writer's queue between two transactions.
  func answer(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// The number of changes that wait for the next transaction.
  var waitingCount: Int { commits.waitingCount }

  /// Stops accepting changes. Accepted changes are still written.
  func stop() {
    guard commits.close() else { return }
    queue.async {
      while self.commitGroup() {}
      self.finish.withLock { $0.isDrained = true }
      self.finishIfIdle()
    }
  }

  /// Ends the writer when all accepted changes are on disk and in the backups.
  private func finishIfIdle() {
    guard removals.isIdle else { return }
    let waiting = finish.withLock { finish -> [CheckedContinuation<Void, Never>] in
      guard finish.isDrained else { return [] }
      finish.isDone = true
      defer { finish.waiting = [] }
      return finish.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns once the writer was stopped and every accepted change is completed.
  func finished() async {
    await withCheckedContinuation { continuation in
      let isDone = finish.withLock { finish in
        if !finish.isDone { finish.waiting.append(continuation) }
        return finish.isDone
      }
      if isDone { continuation.resume() }
    }
  }
}

/// The session of a writer, used only on the writer's queue.
private struct ConfinedSession: @unchecked Sendable {
  let value: WriterSession

  init(_ value: WriterSession) { self.value = value }
}
