/// The retry policy of one call: whether a failed attempt is repeated, and after which pause. Holds no clock.
struct CallAttempts {
  /// The decision about a failed attempt.
  enum Verdict: Hashable {
    /// A retry after a pause.
    case again(after: Duration)
    /// The end of the call with an error.
    case fail(SDKClientError)
  }

  private let method: String
  private let isRead: Bool
  private var schedule: RetrySchedule
  private var patience: Duration

  init(_ method: String, isRead: Bool, schedule: RetrySchedule, patience: Duration) {
    self.method = method
    self.isRead = isRead
    self.schedule = schedule
    self.patience = patience
  }

  /// Decides whether a failed attempt is retried.
  ///
  /// - Parameters:
  ///   - wasSent: whether the daemon may have received the call.
  ///   - wasConnected: whether a connection existed before: only then can a missing daemon be one that restarts.
  ///   - random: see `RetrySchedule.next`.
  mutating func verdict(
    on failure: SDKClientError, wasSent: Bool, wasConnected: Bool, random: Double
  ) -> Verdict {
    switch failure {
    case .closed where !isRead && wasSent: return .fail(.outcomeUnknown(method: method, .connectionEnded))
    case .timeout where !isRead && wasSent: return .fail(.outcomeUnknown(method: method, .timeout))
    case .badAnswer, .system:
      return .fail(isRead || !wasSent ? failure : .outcomeUnknown(method: method, .connectionEnded))
    case .closed: return again(failure, random)
    case .noDaemon where wasConnected: return again(failure, random)
    case .rpc(let error) where error.reason == "shuttingDown" || error.reason == "tooManyInFlight":
      // The daemon has not run the call to its end, and it is safe to send it again.
      return again(failure, random)
    case .rpc(let error) where error.reason == "rateLimit" && isRead:
      let pause = failure.retryAfter ?? .seconds(1)
      guard pause <= patience else { return .fail(failure) }
      patience -= pause
      return .again(after: pause)
    default: return .fail(failure)
    }
  }

  private mutating func again(_ failure: SDKClientError, _ random: Double) -> Verdict {
    schedule.next(random: random).map(Verdict.again) ?? .fail(failure)
  }
}
