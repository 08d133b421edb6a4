import ArgumentParser
import SDKProtocol

/// `sdkctl refresh ID`: renews the token now.
struct RefreshVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "refresh", abstract: "Renew the token now.",
    discussion: "Shows the new token's id and end; the token itself only with -o json.")

  @Argument(help: "The instance.")
  var id: InstanceID

  @Option(help: "The service, for kinds that have several.", completion: CompletionSource.services)
  var service: String?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = TokenRefresh.Params(instance: id, service: service, timeout: global.timeout)
    try context.presenter.show(try await context.ask(TokenRefresh.self, params, isTimed: true))
  }
}
