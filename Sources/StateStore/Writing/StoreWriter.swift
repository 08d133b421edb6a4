import Dispatch
import GRDB
import Logging
import SDKProtocol
import Synchronization

/// The one that writes: takes the changes that wait, many for each transaction, and answers them when they are on
/// disk.
///
/// It runs on a queue of its own and never in a caller's task, so that no caller can take back a change by being
/// cancelled, and no fsync holds up the tasks of others.
final class StoreWriter: Sendable {
  private struct Finish {
    var isDone = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let queue = DispatchQueue(label: "sdkd.store.writer")
  private let commits: CommitQueue
  private let session: ConfinedSession
  private let finish = Mutex(Finish())
  private let observer: TransactionObserver
  /// When work began that is no transaction and may take long, such as a copy of all.
  private let longWorkBegan = Mutex<ContinuousClock.Instant?>(nil)

  init(session: WriterSession, queueLimit: Int, observer: @escaping TransactionObserver = { _ in }) {
    commits = CommitQueue(limit: queueLimit)
    self.session = ConfinedSession(session)
    self.observer = observer
  }

  /// A change on disk, or why it isn't there.
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

  private func drain() {
    while true {
      let batch = commits.take(atMost: session.value.tuning.batchLimit)
      if batch.isEmpty { break }
      let start = ContinuousClock.now
      let results = session.value.perform(batch.map(\.change))
      observer(EndedTransaction(results, duration: start.duration(to: .now)))
      for (pending, result) in zip(batch, results) { pending.answer.resume(returning: result) }
      session.value.prune()
    }
    session.value.recordGeneration()
    scheduleProbe()
  }

  /// Begins the sweeps of retention; the first at once, for what was left when the daemon last ran.
  func beginSweeps() { queue.async { [weak self] in self?.sweep() } }

  /// A piece at a time, so that changes that come meanwhile wait for no more than one.
  private func sweep() {
    guard !commits.isClosed else { return }
    if session.value.sweepPiece() { return queue.async { [weak self] in self?.sweep() } }
    scheduleProbe()
    let nanoseconds = Int(session.value.tuning.sweepInterval / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in self?.sweep() }
  }

  /// While the disk fails, asks it again now and then, so that the store heals without waiting for a change.
  private func scheduleProbe() {
    guard !commits.isClosed, let pause = session.value.takeProbePause() else { return }
    let nanoseconds = Int(pause / .nanoseconds(1))
    queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) { [weak self] in
      guard let self, !commits.isClosed else { return }
      session.value.probe()
      scheduleProbe()
    }
  }

  /// Runs `body` on the writer's queue between two transactions.
  func between<Value: Sendable>(_ body: @escaping @Sendable (WriterSession) -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      queue.async {
        self.longWorkBegan.withLock { $0 = .now }
        let value = body(self.session.value)
        self.longWorkBegan.withLock { $0 = nil }
        self.scheduleProbe()
        continuation.resume(returning: value)
      }
    }
  }

  /// How long work lasts that is no transaction; `nil` when there is none.
  var longWork: Duration? { longWorkBegan.withLock { $0.map { $0.duration(to: .now) } } }

  /// Calls `body` on the writer's queue between two transactions.
  func answer(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

  /// How many changes wait for the next transaction.
  var waitingCount: Int { commits.waitingCount }

  /// Accepts nothing more; what was accepted is still written.
  func stop() {
    guard commits.close() else { return }
    queue.async {
      self.drain()
      let waiting = self.finish.withLock { finish in
        finish.isDone = true
        defer { finish.waiting = [] }
        return finish.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Returns when it was stopped and everything accepted was answered.
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

/// The session of a writer, which only the writer's queue touches.
private struct ConfinedSession: @unchecked Sendable {
  let value: WriterSession

  init(_ value: WriterSession) { self.value = value }
}

extension EndedTransaction {
  fileprivate init(_ results: [Result<CommitResult, SDKError>], duration: Duration) {
    var failed = 0
    var events: [EventType] = []
    for result in results {
      switch result {
      case .success(let done): events += done.events.map(\.type)
      case .failure: failed += 1
      }
    }
    self.init(changes: results.count, failed: failed, events: events, duration: duration)
  }
}
