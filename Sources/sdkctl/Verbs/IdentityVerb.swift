import ArgumentParser

/// `sdkctl identity ID`: shows the identity of an instance, by the method of its kind.
struct IdentityVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "identity", abstract: "Show the identity, without secrets.")

  @OptionGroup var options: KindCallOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "identity", options)
  }
}
