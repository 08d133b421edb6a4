import SDKProtocol
import Synchronization

/// A `SlotTable` whose callers can wait for their slot.
///
/// A lock rather than an actor: a waiting run is often started by a cancellation or the end of another run, and neither
/// can await an actor.
final class ProviderSlots: Sendable {
  private enum Verdict: Sendable { case started, refused, late, cancelled }

  private struct Queue: Sendable {
    var table: SlotTable
    var waiting: [Int: CheckedContinuation<Verdict, Never>] = [:]
    var lastID = 0
  }

  private final class Flag: Sendable { let value = Atomic(false) }

  private let queue: Mutex<Queue>
  private let clock: any Clock<Duration>

  init(limits: SlotLimits, clock: any Clock<Duration>) {
    queue = Mutex(Queue(table: SlotTable(limits: limits)))
    self.clock = clock
  }

  /// Waits for a slot; instances take turns.
  ///
  /// - Parameters:
  ///   - name: the name of the key's instance.
  ///   - owner: the uid whose share it counts against; `nil` for an instance that a file defines, which has a share of
  ///     its own.
  ///   - patience: the longest wait.
  /// - Returns: the run's number, to be given to `finish`.
  /// - Throws: `providerBackoff` when hung runs fill the limits or the wait is over; `shuttingDown` when the task was
  ///   cancelled.
  func acquire(
    _ key: BridgeKey, name: String, owner: UInt32?, concurrency: Int, patience: Duration
  ) async throws(SDKError) -> Int {
    let id = queue.withLock { queue in
      queue.lastID += 1
      return queue.lastID
    }
    let owner = owner.map { ProviderOwner.uid($0) } ?? .file(instance: key.instance)
    let request = SlotRequest(id: id, key: key, name: name, owner: owner, concurrency: concurrency)
    let isLate = Flag()
    let verdict = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        do { try await self.clock.sleep(for: patience) } catch { return }
        isLate.value.store(true, ordering: .sequentiallyConsistent)
        self.leave(request, .late)
      }
      let verdict = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          enter(request, continuation)
          // The wait was over before the request was in the queue.
          if isLate.value.load(ordering: .sequentiallyConsistent) { leave(request, .late) }
          if Task.isCancelled { leave(request, .cancelled) }
        }
      } onCancel: {
        leave(request, .cancelled)
      }
      group.cancelAll()
      return verdict
    }
    switch verdict {
    case .started: return id
    case .refused: throw .providersBusy("Too many token providers are hanging", retryAfter: 5)
    case .late: throw .providersBusy("All token providers that may run at a time are busy", retryAfter: 1)
    case .cancelled: throw .noLongerAsked
    }
  }

  /// Applies other limits. Waiting runs may begin or be refused; running ones continue.
  func use(_ limits: SlotLimits) { settle { $0.use(limits) } }

  /// Records that the run lasts long, which frees its slot for another.
  func markLong(_ id: Int) { settle { $0.markLong(id) } }

  /// Records the end of the run. `succeeded` is `nil` when the run does not show whether the provider works.
  func finish(_ id: Int, succeeded: Bool?) { settle { $0.finish(id, succeeded: succeeded) } }

  /// Forgets the result of the key's last run.
  func forget(_ key: BridgeKey) { queue.withLock { $0.table.forget(key) } }

  /// The numbers of runs in slots, long runs and waiting runs.
  var counts: (slots: Int, long: Int, waiting: Int) {
    queue.withLock { ($0.table.slotCount, $0.table.longCount, $0.table.waitingCount) }
  }

  private func enter(_ request: SlotRequest, _ continuation: CheckedContinuation<Verdict, Never>) {
    // The task's flag is set before its handlers run, so a cancellation too early for `leave` is seen here.
    if Task.isCancelled { return continuation.resume(returning: .cancelled) }
    settle { queue in
      queue.waiting[request.id] = continuation
      return queue.table.request(request)
    }
  }

  private func leave(_ request: SlotRequest, _ verdict: Verdict) {
    let continuation = queue.withLock { queue in
      guard let continuation = queue.waiting.removeValue(forKey: request.id) else {
        return CheckedContinuation<Verdict, Never>?.none
      }
      queue.table.withdraw(request.id, of: request.key.instance)
      return continuation
    }
    continuation?.resume(returning: verdict)
  }

  private func settle(_ change: (inout SlotTable) -> SlotTable.Changes) {
    settle { (queue: inout Queue) in change(&queue.table) }
  }

  private func settle(_ change: (inout Queue) -> SlotTable.Changes) {
    let settled = queue.withLock { queue in
      let changes = change(&queue)
      return changes.started.map { (queue.waiting.removeValue(forKey: $0), Verdict.started) }
        + changes.refused.map { (queue.waiting.removeValue(forKey: $0), Verdict.refused) }
    }
    for (continuation, verdict) in settled { continuation?.resume(returning: verdict) }
  }
}
