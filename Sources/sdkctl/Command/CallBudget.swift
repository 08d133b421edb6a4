import Glibc
import SDKProtocol
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

/// The time limit of an endless command, such as `events --follow`, by `--timeout`.
enum TimeLimit {
  /// Ends the process with status 75 after the time that the command line gives; does nothing when it gives none.
  ///
  /// Only for commands that write each line at once: buffered output would be lost.
  static func arm(_ context: CommandContext) {
    guard let limit = context.timeout?.duration else { return }
    let failure = CommandFailure(message: "The time given with --timeout is over.", reason: "timeout", status: 75)
    let lines = context.presenter.isForPeople ? failure.lines : [failure.jsonText]
    Task.detached {
      try await Task.sleep(for: limit)
      for line in lines { try? Output.standardError.line(line) }
      _exit(failure.status)
    }
  }
}
