internal import Synchronization

/// A result that is set at most once, and that any number of tasks can wait for.
public final class Promise<Value: Sendable>: Sendable {
  private struct Contents {
    var result: Result<Value, any Error>?
    var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
    var lastWaiter: UInt64 = 0

    mutating func newWaiter() -> UInt64 {
      lastWaiter += 1
      return lastWaiter
    }
  }

  private let state = Mutex(Contents())

  /// Creates a promise without a result.
  public init() {}

  /// Sets the result and resumes all waiting tasks. Has no effect if the promise has a result already.
  ///
  /// - Returns: whether this call set the result.
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

  /// The result; `nil` if none is set yet.
  public var result: Result<Value, any Error>? { state.withLock { $0.result } }

  /// Waits for the result and returns its value. Cancelling the calling task ends only this wait.
  ///
  /// - Throws: the error in the result; `CancellationError` if the calling task is cancelled.
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

  /// Waits for the result and returns its value, even if the calling task is cancelled. Throws the error in the result.
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
