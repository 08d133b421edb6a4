import SDKInstances
import Synchronization

/// A promise of one outcome for one waiting task. The first outcome counts. Cancelling the task resolves it with a
/// failure.
final class Turn<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, HTTPFailure>

  private enum State {
    case open
    case waiting(CheckedContinuation<Outcome, Never>)
    case over(Outcome)
    /// The outcome was delivered. It is not kept, because it may hold a reference to the owner of the turn.
    case spent
  }

  private let state = Mutex(State.open)

  /// Whether the promise is resolved.
  var isOver: Bool {
    state.withLock {
      switch $0 {
      case .open, .waiting: false
      case .over, .spent: true
      }
    }
  }

  /// Resolves the promise with an outcome.
  ///
  /// - Returns: false when it was resolved before and this outcome is dropped.
  @discardableResult
  func resolve(_ outcome: Outcome) -> Bool {
    let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
      switch state {
      case .over, .spent: return (false, nil)
      case .open:
        state = .over(outcome)
        return (true, nil)
      case .waiting(let continuation):
        state = .spent
        return (true, continuation)
      }
    }
    waiting?.resume(returning: outcome)
    return isFirst
  }

  /// Waits until the promise is resolved and returns the outcome. Only one task may call this, and only once.
  func outcome() async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Outcome? in
          guard case .over(let outcome) = state else {
            state = .waiting(continuation)
            return nil
          }
          state = .spent
          return outcome
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      resolve(.failure(.network("the wait for it was cancelled")))
    }
  }
}
