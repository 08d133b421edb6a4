/// How a run of a provider ended.
enum ProviderEnding: Sendable, Hashable {
  case exited(Int32)
  case signalled(Int32)
  /// It took longer than it may and was ended.
  case timedOut
  /// It wrote more than it may and was ended.
  case tooMuchOutput
  /// Its program may not be run; the sentence says why.
  case notAllowed(String)
  /// It could not be started; the sentence says why.
  case notStarted(String)
  /// Its unit ended without saying how; the sentence says where to look.
  case lost(String)
  /// Nobody asks any longer, and it was ended.
  case cancelled

  /// The ending as `bridge.lastExit` says it; `nil` when there is nothing to say about the provider.
  var lastExit: String? {
    switch self {
    case .exited(let status): "\(status)"
    case .signalled(let signal): "signal \(signal)"
    case .timedOut: "timeout"
    case .tooMuchOutput: "output"
    case .notAllowed: "notAllowed"
    case .notStarted: "notStarted"
    case .lost: "lost"
    case .cancelled: nil
    }
  }
}
