import ArgumentParser
import Glibc

/// `sdkctl stdio-bridge`: joins standard input and output to the socket. `sdkctl -H` runs it on the other machine.
struct StdioBridgeVerb: Verb {
  static let configuration: CommandConfiguration = {
    var configuration = CommandConfiguration(
      verb: "stdio-bridge", abstract: "Join standard input and output to the daemon's socket.",
      discussion: """
        sdkctl -H runs it on the other machine by ssh. The daemon sees the user who logs in there. Frames are those of \
        the socket: one JSON text a line.
        """,
      examples: ["ssh kiosk-7 sdkctl stdio-bridge"])
    // It is for programs: neither the help nor the shells name it.
    configuration.shouldDisplay = false
    return configuration
  }()

  @OptionGroup(title: "Global options") var global: GlobalOptions

  var isLocal: Bool { true }

  func run(in context: CommandContext) async throws {
    // The client at the other end can't see who listens here, so this end checks it.
    let descriptor = try TrustedSocket.connect(to: global.location, within: .seconds(5))
    defer { close(descriptor) }
    try StreamJoin(
      input: STDIN_FILENO, output: STDOUT_FILENO, socket: descriptor,
      translator: UnchangedBytes(), endsWithInput: false
    ).run()
  }
}

/// The translator of a join that only copies: both ends have the daemon's own frames, which the daemon and the client
/// check.
private struct UnchangedBytes: StreamTranslator {
  func readInput(_ bytes: ArraySlice<UInt8>, toSocket: inout [UInt8], toOutput: inout [UInt8]) -> Bool {
    toSocket += bytes
    return true
  }

  func readSocket(_ bytes: ArraySlice<UInt8>, toOutput: inout [UInt8]) -> Bool {
    toOutput += bytes
    return true
  }
}
