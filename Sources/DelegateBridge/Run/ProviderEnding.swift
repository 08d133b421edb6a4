/// The end of a provider's run.
enum ProviderEnding: Sendable, Hashable {
  case exited(Int32)
  case signalled(Int32)
  /// The run exceeded its time and was ended.
  case timedOut
  /// The run wrote more than `maxOutput` and was ended.
  case tooMuchOutput
  /// The program may not be run; the sentence states why.
  case notAllowed(String)
  /// The program could not be started; the sentence states why.
  case notStarted(String)
  /// The unit ended without an exit status; the sentence states where to look.
  case lost(String)
  /// The answer was no longer needed, and the run was ended.
  case cancelled

  /// The ending in the form of `bridge.lastExit`; `nil` when it says nothing about the provider.
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
