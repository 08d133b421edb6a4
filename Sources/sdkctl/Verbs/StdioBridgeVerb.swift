import ArgumentParser
import Glibc
import JSONRPCTransport
import Linux
import SDKClient

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
    let path = try global.location.path()
    let descriptor = try Self.connect(to: path)
    defer { close(descriptor) }
    // The client at the other end can't see who listens here, so this end checks it.
    let server = PeerCredentials(descriptor: descriptor)
    let uid = server?.uid ?? .max
    guard ServerTrust.standard.includes(uid: uid, pid: server?.pid ?? 0, path: path) else {
      throw SDKClientError.untrustedServer(uid: uid)
    }
    try StreamJoin(input: STDIN_FILENO, output: STDOUT_FILENO, socket: descriptor).run()
  }

  /// Returns a connected, non-blocking descriptor. Retries for 5 s while the daemon's backlog is full.
  private static func connect(to path: String) throws -> CInt {
    guard let address = UnixAddress(path: path) else { throw SDKClientError.noDaemon(path: path) }
    let deadline = ContinuousClock.now + .seconds(5)
    while true {
      let descriptor = UnixAddress.makeSocket()
      guard descriptor >= 0 else { throw SDKClientError.system(call: "socket", errno: errno) }
      if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
      let cause = errno
      close(descriptor)
      switch cause {
      case EAGAIN, EINTR:
        guard ContinuousClock.now < deadline else { throw SDKClientError.timeout }
        poll(nil, 0, 10)
      case ENOENT, ENOTDIR, ECONNREFUSED: throw SDKClientError.noDaemon(path: path)
      case EACCES, EPERM: throw SDKClientError.notPermitted(path: path)
      default: throw SDKClientError.system(call: "connect", errno: cause)
      }
    }
  }
}
