import ArgumentParser
import JSONRPC

/// `sdkctl logout ID`: signs the user out, by the method of the instance's kind.
struct LogoutVerb: Verb {
  static let configuration = CommandConfiguration(commandName: "logout", abstract: "Sign the user out.")

  @OptionGroup var options: KindCallOptions

  @Flag(help: "Forget the user here even if the vendor can't be told.")
  var localOnly = false

  @Flag(help: "Wait until the vendor has ended the session, for kinds that answer before.")
  var wait = false

  @OptionGroup(title: "Global options") var global: GlobalOptions

  func run(in context: CommandContext) async throws {
    try await context.call(verb: "logout", options, extra: localOnly ? ["localOnly": true] : [:], waits: wait)
  }
}
