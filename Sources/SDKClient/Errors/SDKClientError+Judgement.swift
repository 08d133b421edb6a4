public import SDKProtocol

extension SDKClientError {
  /// The stable name of what went wrong: the daemon's own reasons, and those of this side.
  public var reason: String {
    switch self {
    case .rpc(let error): error.reason
    case .noDaemon: "noDaemon"
    case .notPermitted: "notPermitted"
    case .untrustedServer: "untrustedServer"
    case .closed: "connectionClosed"
    case .outcomeUnknown: "outcomeUnknown"
    case .timeout: "timeout"
    case .tooManyCalls: "tooManyCalls"
    case .badAnswer: "badAnswer"
    case .badLocation: "badLocation"
    case .system: "systemError"
    }
  }

  /// The daemon's reason, to switch over; `nil` when it is not the daemon's, one of JSON-RPC's own such as
  /// `invalidParams`, or of a later version.
  public var refusal: Reason? {
    if case .rpc(let error) = self { Reason(rawValue: error.reason) } else { nil }
  }

  /// Whether the same call may succeed later without anything being changed, and may be sent again.
  public var isRetryable: Bool {
    switch self {
    case .rpc(let error): error.isRetryable
    case .noDaemon, .closed, .timeout, .tooManyCalls: true
    case .notPermitted, .untrustedServer, .outcomeUnknown, .badAnswer, .badLocation, .system: false
    }
  }

  /// How long to wait before another attempt, where the daemon says so; at most a day.
  public var retryAfter: Duration? {
    guard case .rpc(let error) = self, let seconds = error.data["retryAfter"]?.doubleValue, seconds >= 0 else {
      return nil
    }
    return .seconds(min(seconds, 86_400))
  }

  /// Whether a write may have been run although it failed: only then sending it again can do it twice.
  public var mayHaveRun: Bool {
    switch self {
    case .outcomeUnknown, .badAnswer: true
    default: false
    }
  }

  /// Whether this is how a daemon that restarts looks from outside.
  var isRestart: Bool {
    switch self {
    case .closed, .noDaemon: true
    case .rpc(let error): error.reason == "shuttingDown"
    default: false
    }
  }

  /// Whether a subscription or delegate that was lost this way can be had again.
  var isPassing: Bool {
    switch self {
    case .rpc(let error):
      // The daemon may notice the new connection before the end of the old one.
      error.isRetryable || error.reason == "tooManySubscriptions"
    case .timeout, .system: true
    default: isRestart
    }
  }
}
