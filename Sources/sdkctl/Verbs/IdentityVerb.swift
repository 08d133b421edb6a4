import ArgumentParser

/// `sdkctl identity ID`: who the instance speaks for, in the way of its kind.
struct IdentityVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "identity", abstract: "Show the identity, without secrets.")

  @OptionGroup var options: KindCallOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "identity", options)
  }
}
