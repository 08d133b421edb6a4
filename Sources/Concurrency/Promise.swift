import Synchronization

/// A result that several callers wait for, each with its own patience.
public final class SharedOutcome<Value: Sendable>: Sendable {
  private struct State {
    var result: Result<Value, any Error>?
    var waiters: [UInt64: CheckedContinuation<Value, any Error>] = [:]
    var next: UInt64 = 0
  }
  private let state = Mutex(State())

  /// An outcome that has not come yet.
  public init() {}

  /// The first result counts.
  public func resolve(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      guard state.result == nil else { return [CheckedContinuation<Value, any Error>]() }
      state.result = result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// The result, if it has come.
  public var result: Result<Value, any Error>? { state.withLock { $0.result } }

  /// Waits for the result. Cancelling ends the waiting and nothing else.
  ///
  /// - Throws: what the result throws; `CancellationError`.
  public func value() async throws -> Value {
    let ticket = state.withLock { state in
      state.next += 1
      return state.next
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let ready: Result<Value, any Error>? = state.withLock { state in
          if let result = state.result { return result }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[ticket] = continuation
          return nil
        }
        if let ready { continuation.resume(with: ready) }
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: ticket) }
      waiter?.resume(throwing: CancellationError())
    }
  }

  /// Waits for the result whatever happens to the caller.
  public func valueIgnoringCancellation() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let ready: Result<Value, any Error>? = state.withLock { state in
        if let result = state.result { return result }
        state.next += 1
        state.waiters[state.next] = continuation
        return nil
      }
      if let ready { continuation.resume(with: ready) }
    }
  }
}
