public import SDKProtocol

extension SDKClientError {
  /// The stable name of the error: the daemon's own reason, or one of this client.
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

  /// The daemon's reason as an enumeration. `nil` for errors of this client, for those of JSON-RPC such as
  /// `invalidParams`, and for reasons of later versions.
  public var refusal: Reason? {
    if case .rpc(let error) = self { Reason(rawValue: error.reason) } else { nil }
  }

  /// Returns the sentence that an app shows to the person before it, such as "Please sign in again."
  public func sentence(in language: Language) -> String { Sentence(reason: reason).text(in: language) }

  /// Whether the same call may succeed later without any change, and may be sent again.
  public var isRetryable: Bool {
    switch self {
    case .rpc(let error): error.isRetryable
    case .noDaemon, .closed, .timeout, .tooManyCalls: true
    case .notPermitted, .untrustedServer, .outcomeUnknown, .badAnswer, .badLocation, .system: false
    }
  }

  /// The time to wait before another attempt, if the daemon gives one; at most a day.
  public var retryAfter: Duration? {
    guard case .rpc(let error) = self, let seconds = error.data["retryAfter"]?.doubleValue, seconds >= 0 else {
      return nil
    }
    return .seconds(min(seconds, 86_400))
  }

  /// Whether a failed write may have been run. Only then can sending it again do it twice.
  public var mayHaveRun: Bool {
    switch self {
    case .outcomeUnknown, .badAnswer: true
    default: false
    }
  }

  /// Whether a restarting daemon can cause this error.
  var isRestart: Bool {
    switch self {
    case .closed, .noDaemon: true
    case .rpc(let error): error.reason == "shuttingDown"
    default: false
    }
  }

  /// Whether reconnecting can restore a subscription or delegate that was lost with this error.
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
