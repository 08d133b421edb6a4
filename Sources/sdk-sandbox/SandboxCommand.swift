import ArgumentParser
import Foundation
import SandboxServer

/// `sdk-sandbox`: the development server that imitates the vendors.
@main
struct SandboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sdk-sandbox",
    abstract: "A development server that stands in for the SDKs' vendors.",
    usage:
      "sdk-sandbox [--port <port>]\nsdk-sandbox mint [--sdk messaging|chat] --external-id <external-id> [<options>]",
    discussion: HelpText.discussion,
    subcommands: [MintCommand.self])

  @Option(help: "The port of 127.0.0.1 to listen on; 0 takes a free one.")
  var port: UInt16 = 0

  func run() async throws {
    signal(SIGPIPE, SIG_IGN)
    let interrupted = Interruption()
    let server = try SandboxServer(port: port)
    let port: UInt16
    do {
      port = try await server.start()
    } catch {
      throw CommandFailure("can't listen on 127.0.0.1:\(self.port): \(error)")
    }
    Output.line("sdk-sandbox: development only, listening on http://127.0.0.1:\(port)")
    await interrupted.wait()
    await server.stop()
  }
}
