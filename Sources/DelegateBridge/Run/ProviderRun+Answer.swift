import SDKProtocol

extension ProviderRun {
  /// Returns the answer of a run, or throws one of the provider's reasons.
  ///
  /// - Parameter now: the time at which the run ended.
  func answer(
    to question: BridgeQuestion, by provider: ProviderConfiguration, now: Timestamp
  ) throws(SDKError) -> BridgeAnswer {
    switch ending {
    case .exited(0): return try OutputFormat.parse(output, format: provider.format, question: question, now: now)
    case .exited(75):
      throw SDKError(
        .provider, .providerFailed, "The token provider asks to try later (exit status 75); try again later.")
    case .exited(77): throw .denied("exit status 77")
    case .exited(let status):
      if let failure = OutputFormat.failure(output, format: provider.format) { throw failure.error }
      throw Self.failed("failed with exit status \(status)", provider)
    case .signalled(let signal): throw Self.failed("was ended by signal \(signal)", provider)
    case .timedOut:
      throw SDKError(
        .provider, .providerTimeout,
        "The token provider did not end in time and was killed; make it faster or raise provider.timeout.")
    case .tooMuchOutput:
      throw .output("wrote more than \(provider.maxOutput.bytes) bytes; write the answer alone or raise max_output")
    case .notAllowed(let sentence): throw SDKError(.provider, .providerNotAllowed, sentence)
    case .notStarted(let sentence), .lost(let sentence): throw SDKError(.provider, .providerFailed, sentence)
    case .cancelled: throw .noLongerAsked
    }
  }

  private static func failed(_ how: String, _ provider: ProviderConfiguration) -> SDKError {
    let place = provider.unit.map { "journalctl -u '\(UnitName.serviceUnits($0))'" } ?? "the journal"
    return SDKError(
      .provider, .providerFailed, "The token provider \(how); \(place) has what it wrote to standard error.")
  }
}
