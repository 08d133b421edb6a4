import ArgumentParser
import JSONRPC

/// `sdkctl login ID`: signs a user in, by the method of the instance's kind.
struct LoginVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "login", abstract: "Sign a user in.",
    discussion: """
      Reads what the instance's kind takes, such as a JWT or an identity as JSON, from standard input, from --file, \
      or from the keyboard without showing it. \
      The JSON of an OAuth token endpoint is taken as it is, where the kind takes a JWT or an access token. \
      sdkctl explain SHAPE explains the members of an object, such as ChatUser.

      \(KindInput.paragraph(KindInput.login))
      """,
    examples: [
      "sdkctl login desk < alice.jwt",
      "sdkctl login visitors --file identity.json",
      "sdkctl login cases --service cases --file settings.json",
    ])

  @OptionGroup var options: KindCallOptions

  @Option(
    help: ArgumentHelp("Read from this file instead of standard input.", valueName: "path"), completion: .file())
  var file: String?

  @Flag(help: "Wait until the vendor has accepted the user, for kinds whose login returns earlier.")
  var wait = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "login", options, file: file, waits: wait)
  }
}

/// `sdkctl logout ID`: signs the user out, by the method of the instance's kind.
struct LogoutVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "logout", abstract: "Sign the user out.",
    examples: [
      "sdkctl logout desk",
      "sdkctl logout desk --local-only",
    ])

  @OptionGroup var options: KindCallOptions

  @Flag(help: "Forget the user here even if the vendor can't be told.")
  var localOnly = false

  @Flag(help: "Where logout returns earlier, wait until the vendor has ended the session; success means that it has.")
  var wait = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "logout", options, extra: localOnly ? ["localOnly": true] : [:], waits: wait)
  }
}

/// `sdkctl identity ID`: shows the identity of an instance, by the method of its kind.
struct IdentityVerb: Verb {
  static let configuration = CommandConfiguration(
    verb: "identity", abstract: "Show the identity, without secrets.",
    discussion: "For kinds that keep no identity or settings of a user, such as zendesk.messaging, it is the user.",
    examples: [
      "sdkctl identity visitors"
    ])

  @OptionGroup var options: KindCallOptions

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "identity", options)
  }
}
