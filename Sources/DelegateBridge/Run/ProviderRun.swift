/// What a run of a provider gave.
struct ProviderRun: Sendable {
  /// How it ended.
  var ending: ProviderEnding
  /// What it wrote to standard output, within its limit.
  var output: [UInt8] = []
}

/// Who runs providers; tests of the bridge replace it.
protocol ProviderRunning: Sendable {
  /// Runs a provider to its end and the end of its process group.
  func run(_ invocation: ProviderInvocation) async -> ProviderRun
}
