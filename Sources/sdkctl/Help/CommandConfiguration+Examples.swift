import ArgumentParser

extension CommandConfiguration {
  /// The heading of the examples in a discussion. `HelpPage` and the manual's generator print what follows unchanged.
  static let examplesHeading = "Examples:"

  /// Creates the configuration of a verb with examples: command lines, and comments that start with `#`.
  init(verb: String, abstract: String, discussion: String = "", examples: [String]) {
    let block = ([Self.examplesHeading] + examples.map { "  \($0)" }).joined(separator: "\n")
    self.init(
      commandName: verb, abstract: abstract, discussion: discussion.isEmpty ? block : "\(discussion)\n\n\(block)")
  }
}
