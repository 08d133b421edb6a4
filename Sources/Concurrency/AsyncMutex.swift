internal import DequeModule
internal import Synchronization

/// A mutex that tasks wait for without blocking a thread, in the order of their arrival.
///
/// Cancelling a task does not end its wait.
public final class AsyncMutex: Sendable {
  private struct State {
    var isLocked = false
    var waiters: Deque<CheckedContinuation<Void, Never>> = []

    /// Locks the mutex if it is free. Returns whether it was.
    mutating func take() -> Bool {
      defer { isLocked = true }
      return !isLocked
    }
  }

  private let state = Mutex(State())

  /// An unlocked mutex.
  public init() {}

  /// Whether the mutex is locked.
  public var isLocked: Bool { state.withLock { $0.isLocked } }

  /// Waits until the mutex is free, and locks it. Other callers wait until ``unlock()``.
  public func lock() async {
    if state.withLock({ $0.take() }) { return }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.take() { return true }
        state.waiters.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Hands the mutex to the task that has waited longest, or frees it.
  public func unlock() {
    let next = state.withLock { state in
      let next = state.waiters.popFirst()
      state.isLocked = next != nil
      return next
    }
    next?.resume()
  }
}
