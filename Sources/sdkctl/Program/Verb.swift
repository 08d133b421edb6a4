import ArgumentParser

/// One verb of `sdkctl`: its arguments and what it does.
protocol Verb: AsyncParsableCommand {
  /// The options that all verbs have.
  var global: GlobalOptions { get }
  /// Does it.
  ///
  /// - Throws: `SDKClientError`, `CommandFailure`, `BrokenPipe`.
  func run(in context: CommandContext) async throws
}
