internal import DequeModule
internal import Synchronization

/// A mutex for tasks. Waiting tasks block no thread, and get the lock in the order of their calls.
///
/// Cancelling a task does not end its wait.
public final class AsyncMutex: Sendable {
  private struct State {
    var isLocked = false
    var waiters: Deque<CheckedContinuation<Void, Never>> = []

    /// Locks the mutex if it is unlocked. Returns whether this call locked it.
    mutating func take() -> Bool {
      defer { isLocked = true }
      return !isLocked
    }
  }

  private let state = Mutex(State())

  /// Creates an unlocked mutex.
  public init() {}

  /// Whether the mutex is locked.
  public var isLocked: Bool { state.withLock { $0.isLocked } }

  /// Waits until the mutex is unlocked, and locks it. Later callers wait until ``unlock()`` is called.
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

  /// Passes the lock to the task that has waited longest, or unlocks the mutex if none waits.
  public func unlock() {
    let next = state.withLock { state in
      let next = state.waiters.popFirst()
      state.isLocked = next != nil
      return next
    }
    next?.resume()
  }
}
