internal import Synchronization

/// Something that comes once, and those who wait for it.
final class EndSignal: Sendable {
  private struct State {
    var hasCome = false
    var lastID = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Mutex(State())

  var hasCome: Bool { state.withLock { $0.hasCome } }

  /// It comes; false when it had come before.
  func come() -> Bool {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
      guard !state.hasCome else { return nil }
      state.hasCome = true
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters ?? [] { waiter.resume() }
    return waiters != nil
  }

  /// Waits until it has come, or this task is cancelled.
  func wait() async {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isWaiting = state.withLock { state in
          guard !state.hasCome, !Task.isCancelled else { return false }
          state.waiters[id] = waiter
          return true
        }
        if !isWaiting { waiter.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
