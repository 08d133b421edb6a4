public import SDKProtocol

/// The result of a provider's run.
struct ProviderRun: Sendable {
  /// The end of the run.
  var ending: ProviderEnding
  /// The standard output, at most `maxOutput` bytes.
  var output: [UInt8] = []
  /// The command that shows what a unit wrote to standard error; `nil` for a program, which writes to the daemon's journal.
  var journal: String?
}

extension ProviderRun {
  /// Returns the answer of a run, or throws one of the provider's reasons.
  ///
  /// - Parameters:
  ///   - isCutShort: whether the question's deadline left the run less time than `provider.timeout`.
  ///   - now: the time at which the run ended.
  func answer(
    to question: BridgeQuestion, by provider: ProviderConfiguration, isCutShort: Bool = false, now: Timestamp
  ) throws(SDKError) -> BridgeAnswer {
    switch ending {
    case .exited(0): return try OutputFormat.parse(output, format: provider.format, question: question, now: now)
    case .exited(75):
      throw SDKError(
        .provider, .providerFailed, "The token provider asks to try later (exit status 75); try again later.")
    case .exited(77): throw .denied("exit status 77")
    case .exited(let status):
      if let failure = OutputFormat.failure(output, format: provider.format) { throw failure.error }
      throw failed("failed with exit status \(status)")
    case .signalled(let signal): throw failed("was ended by signal \(signal)")
    case .timedOut:
      throw SDKError(
        .provider, .providerTimeout,
        isCutShort
          ? "The token provider did not end before the deadline and was killed; make it faster or raise refresh.deadline."
          : "The token provider did not end in time and was killed; make it faster or raise provider.timeout.")
    case .tooMuchOutput:
      throw .output("wrote more than \(provider.maxOutput.bytes) bytes; write the answer alone or raise max_output")
    case .notAllowed(let sentence): throw SDKError(.provider, .providerNotAllowed, sentence)
    case .notStarted(let sentence), .lost(let sentence): throw SDKError(.provider, .providerFailed, sentence)
    case .cancelled: throw .noLongerAsked
    }
  }

  private func failed(_ how: String) -> SDKError {
    SDKError(
      .provider, .providerFailed,
      "The token provider \(how); \(journal ?? "the journal") has what it wrote to standard error.")
  }
}

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

  /// The ending in the form of `bridge.lastExit`; `nil` when the run does not show whether the provider works.
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

/// A runner of providers. Tests of the bridge replace it.
protocol ProviderRunning: Sendable {
  /// Runs a provider until it and its process group have ended.
  func run(_ invocation: ProviderInvocation) async -> ProviderRun
}

extension ProviderRunning {
  /// Runs a provider, and calls `onSlow` once when the run lasts longer than `slow`.
  func running(
    _ invocation: ProviderInvocation, slow: Duration, clock: any Clock<Duration>,
    onSlow: @escaping @Sendable () -> Void
  ) async -> ProviderRun {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        do { try await clock.sleep(for: slow) } catch { return }
        onSlow()
      }
      let run = await run(invocation)
      group.cancelAll()
      return run
    }
  }
}

/// A run of a token provider that has ended, for observers.
public struct EndedRun: Sendable, Hashable {
  /// The key of the question.
  public var key: BridgeKey
  /// The instance of the question.
  public var instance: InstanceID
  /// The instance's kind.
  public var kind: KindName
  /// The name of the question.
  public var question: BridgeQuestion.Name
  /// The uid that owns the instance; root for an instance that a file defines.
  public var owner: UInt32
  /// The program without its arguments, which may contain secrets; or the unit.
  public var program: String
  /// Whether `program` is the NAME of a systemd unit.
  public var isUnit: Bool
  /// The exit in the form of `bridge.lastExit`: `0`, `77`, `signal 9`, `timeout`, `output`, `notAllowed`, `notStarted`,
  /// `lost`; or `cancelled` when the answer was no longer needed.
  public var exit: String
  /// The reason why there is no answer; `nil` when there is one.
  public var failure: Reason?
  /// The duration of the run, without the wait for a slot.
  public var duration: Duration
}
