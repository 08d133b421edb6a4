import ArgumentParser
import Dispatch
import Foundation
import SandboxServer

/// `sdk-sandbox`: the development server that imitates the vendors.
@main
struct SandboxCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sdk-sandbox",
    abstract: "A development server that stands in for the SDKs' vendors.",
    usage:
      "sdk-sandbox [--port <port>]\nsdk-sandbox mint [--sdk SDK] --external-id <external-id> [<options>]",
    discussion: HelpText.discussion,
    subcommands: [MintCommand.self])

  @Option(help: "The port of 127.0.0.1 to listen on; 0 takes a free one.")
  var port: UInt16 = 0

  static func main() async {
    // As in sdkctl: libdispatch would log that only root may prefer threads.
    setenv("LIBDISPATCH_LOG", "NO", 0)
    await main(nil)
  }

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

/// An error that ends the command. Standard error shows its description.
struct CommandFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Unbuffered standard output, so that its reader receives each line at once.
enum Output {
  static func line(_ text: String) {
    // The sandbox continues when its output is closed.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
  }
}

/// An interruption by SIGTERM or SIGINT that a task can wait for.
final class Interruption {
  private let signals: AsyncStream<Void>
  private let sources: [any DispatchSourceSignal]

  /// Starts to intercept SIGTERM and SIGINT, which no longer end the process by themselves.
  init() {
    let (signals, arrival) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    sources = [SIGTERM, SIGINT].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number)
      source.setEventHandler { arrival.yield() }
      source.resume()
      return source
    }
  }

  /// Waits until SIGTERM or SIGINT arrives. Returns at once if one has arrived before the call.
  func wait() async {
    for await _ in signals { return }
  }
}
