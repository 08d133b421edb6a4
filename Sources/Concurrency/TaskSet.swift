internal import Synchronization

/// Tasks in progress, each of which ends by itself.
///
/// When a child of a task group ends, it is looked for among all children. Here the end of a task takes as long beside
/// ten thousand others as alone.
public final class TaskSet: Sendable {
  /// The work of a task.
  public typealias Work = @Sendable () async -> Void

  private struct Contents {
    var tasks: [UInt64: Task<Void, Never>] = [:]
    var lastTask: UInt64 = 0
    var isCancelled = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(Contents())

  /// Creates an empty set.
  public init() {}

  /// Starts a task. It is cancelled at once if the set is cancelled.
  public func start(_ work: @escaping Work) {
    // Under the lock, so that the task is in the set when it ends.
    let task = state.withLock { state in
      state.lastTask += 1
      let number = state.lastTask
      let task = Task {
        await work()
        self.ended(number)
      }
      state.tasks[number] = task
      return state.isCancelled ? task : nil
    }
    task?.cancel()
  }

  private func ended(_ number: UInt64) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.tasks[number] = nil
      guard state.tasks.isEmpty else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Cancels the tasks in progress, and those that are started from now on.
  public func cancel() {
    let tasks = state.withLock { state in
      state.isCancelled = true
      return Array(state.tasks.values)
    }
    for task in tasks { task.cancel() }
  }

  /// Waits until no task is in progress, even if the calling task is cancelled.
  public func ended() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if !state.tasks.isEmpty { state.waiters.append(continuation) }
        return state.tasks.isEmpty
      }
      if isEmpty { continuation.resume() }
    }
  }

  /// Starts each work of a stream. Returns when the stream has ended, and then all tasks have. Cancelling the calling
  /// task cancels them.
  public func run(_ works: AsyncStream<Work>) async {
    await withTaskCancellationHandler {
      for await work in works { start(work) }
      await ended()
    } onCancel: {
      cancel()
    }
  }
}
