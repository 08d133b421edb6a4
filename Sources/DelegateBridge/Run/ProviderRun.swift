/// The result of a provider's run.
struct ProviderRun: Sendable {
  /// The end of the run.
  var ending: ProviderEnding
  /// The standard output, within its limit.
  var output: [UInt8] = []
}

/// A runner of providers. Tests of the bridge replace it.
protocol ProviderRunning: Sendable {
  /// Runs a provider until it and its process group have ended.
  func run(_ invocation: ProviderInvocation) async -> ProviderRun
}
