import ArgumentParser
import JSONRPC
import SDKProtocol

/// `sdkctl open ID`: opens a session and shows all that an app needs for a conversation.
struct OpenVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "open", abstract: "Open a session and show it.",
    discussion: "Shows what an app gets to open a conversation; secrets only with -o json.",
    examples: [
      "sdkctl open desk",
      "sdkctl open desk -o json",
    ])

  @OptionGroup var target: ServiceArguments

  @OptionGroup var lifetime: TokenLifetime

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = lifetime.sessionParams(target.id, target.service, timeout: global.timeout)
    let session = try await context.ask(SessionOpen.self, params, isTimed: true)
    try lifetime.check(session["token"], in: context)
    try context.presenter.show(session)
  }
}

/// `sdkctl refresh ID`: renews the token now.
struct RefreshVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "refresh", abstract: "Renew the token now.",
    discussion: "Shows the new token's id and end; the token itself only with -o json.",
    examples: [
      "sdkctl refresh desk"
    ])

  @OptionGroup var target: ServiceArguments

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    let params = TokenRefresh.Params(instance: target.id, service: target.service, timeout: global.timeout)
    try context.presenter.show(try await context.ask(TokenRefresh.self, params, isTimed: true))
  }
}
