import ArgumentParser

/// A verb of `sdkctl`: its arguments and its action.
protocol Verb: AsyncParsableCommand {
  /// The options that all verbs have.
  var global: GlobalOptions { get }
  /// Runs the verb.
  ///
  /// - Throws: `SDKClientError`, `CommandFailure`, `BrokenPipe`.
  func run(in context: CommandContext) async throws
}
