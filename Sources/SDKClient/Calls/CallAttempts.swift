/// Whether a call that failed is made again, and after which pause. A value: it knows no clock.
struct CallAttempts {
  /// What to do about a failure.
  enum Verdict: Hashable {
    /// Pause and call again.
    case again(after: Duration)
    /// Throw this.
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

  /// Judges the failure of one attempt.
  ///
  /// - Parameters:
  ///   - wasSent: whether the call can have reached the daemon.
  ///   - wasConnected: whether there was a daemon once: only then can a missing one be one that restarts.
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
      // Refused before it was run.
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
