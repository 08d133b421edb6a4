import Concurrency
import SDKProtocol
import StateStore
import Synchronization

/// The outcome of an activity, for the callers that wait for it.
final class PendingOutcome: Sendable {
  private let outcome = Promise<AuthenticationMachine.Outcome>()
  /// The counts of what the activity's commits wiped.
  let wiped = WipeCounts()

  /// The outcome if the activity has ended already.
  var result: Result<AuthenticationMachine.Outcome, any Error>? { outcome.result }

  func resolve(_ result: Result<AuthenticationMachine.Outcome, any Error>) { outcome.resolve(result) }

  /// Waits for the end of the activity.
  ///
  /// - Throws: `superseded` if a newer activity replaced it.
  func value() async throws -> AuthenticationMachine.Outcome { try await outcome.value() }

  /// Waits at most `seconds`, or without limit if that is `nil`. The activity continues after a timeout.
  ///
  /// - Parameter lacking: the beginning of the error's message, which names the missing result.
  /// - Throws: also `timeout`.
  func value(
    within seconds: Double?, of id: InstanceID, lacking: String = "No new token came"
  ) async throws -> AuthenticationMachine.Outcome {
    try await outcome.value(within: seconds, of: id, lacking: lacking)
  }

  /// Waits for the end of the activity, also when the caller is cancelled.
  ///
  /// - Throws: the activity's failure; `superseded` if a newer activity replaced it.
  @discardableResult
  func success(of id: InstanceID) async throws -> AuthenticationMachine.Outcome {
    let outcome = try await outcome.valueIgnoringCancellation()
    if case .failed(let error) = outcome { throw error.about(id) }
    return outcome
  }
}

extension Promise {
  /// Waits at most `seconds`, or without limit if that is `nil`. The work continues after a timeout.
  ///
  /// - Parameters:
  ///   - lacking: the beginning of the error's message, which names the missing result.
  ///   - continues: whether the message says that the work continues.
  /// - Throws: also `timeout`.
  func value(
    within seconds: Double?, of id: InstanceID, lacking: String, continues: Bool = true
  ) async throws -> Value {
    if let result { return try result.get() }
    guard let seconds else { return try await value() }
    do {
      return try await withTimeout(.seconds(seconds)) { try await self.value() }
    } catch is TimeoutError {
      let end = continues ? "; the work continues." : "."
      throw SDKError(.unreachable, .timeout, "\(lacking) within the time given\(end)", instance: id)
    }
  }
}

/// The time at which a caller stops waiting, for a call that waits several times.
struct WaitLimit: Sendable {
  private let end: ContinuousClock.Instant?

  /// Creates a limit.
  ///
  /// - Parameter timeout: the seconds from now on; `nil` for no limit.
  init(_ timeout: Double?) { end = timeout.map { ContinuousClock.now + .seconds($0) } }

  /// Runs a step of an instance, which may wait for the commit of an earlier change. A step that the caller no longer
  /// waits for is made all the same. With no time left, a step that need not wait is made all the same.
  ///
  /// - Throws: also `timeout`.
  func limiting<Value: Sendable>(
    _ instance: HostedInstance, _ step: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let left, left > 0 || instance.actor.changing.isLocked else { return try await step() }
    let outcome = Promise<Value>()
    instance.environment.operations.start {
      do {
        outcome.resolve(.success(try await step()))
      } catch {
        outcome.resolve(.failure(error))
      }
    }
    return try await outcome.value(within: left, of: instance.id, lacking: "An earlier change has not been stored")
  }

  /// The seconds that are left; `nil` without a limit.
  var left: Double? { end.map { max(0, ($0 - ContinuousClock.now) / .seconds(1)) } }
}

/// The counts of what an activity wiped, for the caller's answer.
final class WipeCounts: Sendable {
  private let counts = Mutex<CommitResult.Wiped?>(nil)

  var value: CommitResult.Wiped? { counts.withLock { $0 } }

  func set(_ wiped: CommitResult.Wiped) { counts.withLock { $0 = wiped } }
}
