internal import Synchronization

/// A result that comes once, and for which any number of tasks wait.
public final class Promise<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
    var lastWaiter: UInt64 = 0

    mutating func newWaiter() -> UInt64 {
      lastWaiter += 1
      return lastWaiter
    }
  }

  private let state = Mutex(State())

  /// A promise without a result yet.
  public init() {}

  /// Gives the result to everybody who waits and will wait. The first one counts.
  ///
  /// - Returns: whether this was the first.
  @discardableResult
  public func resolve(_ result: Result<Value, any Error>) -> Bool {
    let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>]? in
      guard state.result == nil else { return nil }
      state.result = result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters ?? [] { waiter.resume(with: result) }
    return waiters != nil
  }

  /// The result, if it has come.
  public var result: Result<Value, any Error>? { state.withLock { $0.result } }

  /// Waits for the result. Cancelling ends the waiting and nothing else.
  ///
  /// - Throws: what the result throws; `CancellationError`.
  public func value() async throws -> Value {
    let waiter = state.withLock { $0.newWaiter() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready: Result<Value, any Error>? = state.withLock { state in
          if let result = state.result { return result }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[waiter] = continuation
          return nil
        }
        if let ready { continuation.resume(with: ready) }
      }
    } onCancel: {
      let continuation = state.withLock { $0.waiters.removeValue(forKey: waiter) }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Waits for the result whatever happens to the caller.
  public func valueIgnoringCancellation() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let ready: Result<Value, any Error>? = state.withLock { state in
        if let result = state.result { return result }
        state.waiters[state.newWaiter()] = continuation
        return nil
      }
      if let ready { continuation.resume(with: ready) }
    }
  }
}
