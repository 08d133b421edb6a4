internal import Synchronization

/// One connects, and all who want a connection meanwhile get the same.
final class SharedOpening: Sendable {
  typealias Outcome = Result<any SDKConnection, any Error>

  private struct State {
    var isOpening = false
    var lastID = 0
    var waiters: [Int: CheckedContinuation<Outcome, Never>] = [:]
  }

  private let state = Mutex(State())

  /// Runs `open`, unless somebody else does so already: then their outcome is this one too.
  ///
  /// - Throws: what `open` throws, or `CancellationError`.
  func run(_ open: () async throws -> any SDKConnection) async throws -> any SDKConnection {
    while true {
      try Task.checkCancellation()
      let isMine = state.withLock { state in
        defer { state.isOpening = true }
        return !state.isOpening
      }
      guard isMine else {
        do { return try await wait().get() } catch is CancellationError {
          // They gave up, or we did.
          continue
        }
      }
      let outcome: Outcome
      do { outcome = .success(try await open()) } catch { outcome = .failure(error) }
      let waiters = state.withLock { state in
        state.isOpening = false
        defer { state.waiters = [:] }
        return state.waiters.values
      }
      for waiter in waiters { waiter.resume(returning: outcome) }
      return try outcome.get()
    }
  }

  private func wait() async -> Outcome {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let isWaiting = state.withLock { state in
          guard state.isOpening, !Task.isCancelled else { return false }
          state.waiters[id] = waiter
          return true
        }
        if !isWaiting { waiter.resume(returning: .failure(CancellationError())) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: .failure(CancellationError()))
    }
  }
}
