import Synchronization

/// The time that a command may spend in calls to the daemon.
///
/// All calls share it, so that a command of many calls ends in time too. The time to type a secret is not counted.
final class CallBudget: Sendable {
  /// The budget of verbs without `--timeout`.
  static let standard = Duration.seconds(60)

  private let remaining: Mutex<Duration>

  /// Creates a budget of this length.
  init(_ limit: Duration) { remaining = Mutex(limit) }

  /// The remaining time; never negative.
  var left: Duration { remaining.withLock { max($0, .zero) } }

  /// Runs a call with the remaining time, and deducts the time that the call took.
  ///
  /// - Throws: what `call` throws.
  func spend<Result>(_ call: (_ left: Duration) async throws -> Result) async throws -> Result {
    let start = ContinuousClock.now
    defer { remaining.withLock { $0 -= start.duration(to: .now) } }
    return try await call(left)
  }
}
