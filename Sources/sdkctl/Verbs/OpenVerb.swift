import ArgumentParser
import SDKProtocol

/// `sdkctl open ID`: all that an app needs to open a conversation.
struct OpenVerb: Verb {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Open a session and show it.",
    discussion: "Shows what an app gets to open a conversation; secrets only with -o json.")

  @Argument(help: "The instance.")
  var id: InstanceID

  @Option(help: "The service, for kinds that have several.", completion: CompletionSource.services)
  var service: String?

  @Option(name: .customLong("min-ttl"), help: "How long the token must live at least, such as 10s or 5m.")
  var minTTL: Seconds?

  @Option(help: "How long to wait.")
  var timeout: Seconds?

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = SessionOpen.Params(instance: id, service: service, minTTL: minTTL, timeout: timeout)
    try context.presenter.show(try await context.ask(SessionOpen.self, params))
  }
}
