import ArgumentParser

/// A verb of `sdkctl`: its arguments and its action.
protocol Verb: AsyncParsableCommand {
  /// The options that all verbs have.
  var global: GlobalOptions { get }
  /// Whether the verb is about this machine, its files or its users, and so can't be run with `--host`.
  var isLocal: Bool { get }
  /// Runs the verb.
  ///
  /// - Throws: `SDKClientError`, `CommandFailure`, `BrokenPipe`.
  func run(in context: CommandContext) async throws
}

extension Verb {
  /// `false` by default: most verbs make calls.
  var isLocal: Bool { false }
}
