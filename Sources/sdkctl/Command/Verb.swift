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

/// A verb that scripts run often, and that is made from a plain command line without the parser.
protocol PlainVerb: Verb {
  /// Takes the verb's words from the line; `nil` if an argument is missing. Sets every property, since one that is not
  /// set can't be read.
  init?(plain line: inout PlainLine)
}

extension PlainVerb {
  /// Creates the verb from the words after its name. Returns `nil` for a line that is not plain, or wrong.
  static func plain(_ words: some Sequence<String>) -> Self? {
    var line = PlainLine(words)
    guard let verb = Self(plain: &line) else { return nil }
    line.check(verb)
    return line.isRead ? verb : nil
  }
}

extension Verb {
  /// `false` by default: most verbs make calls.
  var isLocal: Bool { false }
}

extension CommandConfiguration {
  /// The heading of the examples in a discussion. `HelpPage` and the manual's generator print a paragraph unchanged that
  /// has a heading and indented lines.
  static let examplesHeading = "Examples:"

  /// Creates the configuration of a verb with examples: command lines, and comments that start with `#`.
  init(verb: String, abstract: String, discussion: String = "", examples: [String]) {
    let block = ([Self.examplesHeading] + examples.map { "  \($0)" }).joined(separator: "\n")
    self.init(
      commandName: verb, abstract: abstract, discussion: discussion.isEmpty ? block : "\(discussion)\n\n\(block)")
  }
}
