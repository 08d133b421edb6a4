import SDKInstances
import Synchronization

/// One outcome that one task waits for. The first outcome counts; a cancelled task ends its turn itself.
final class Turn<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, HTTPFailure>

  private enum State {
    case open
    case waiting(CheckedContinuation<Outcome, Never>)
    case over(Outcome)
    /// Handed out: kept no longer, for it may hold what holds the turn.
    case spent
  }

  private let state = Mutex(State.open)

  /// Whether there is an outcome already.
  var isOver: Bool {
    state.withLock {
      switch $0 {
      case .open, .waiting: false
      case .over, .spent: true
      }
    }
  }

  /// Ends the turn.
  ///
  /// - Returns: false when it was over, and this outcome went nowhere.
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

  /// Waits for the outcome. For one task.
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
