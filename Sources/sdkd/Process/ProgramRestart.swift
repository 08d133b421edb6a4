import Glibc
import Linux

/// A restart that executes the program again in the same process, with its socket, its arguments and its environment.
///
/// The service manager does not notice the restart, and a socket that it passed stays open.
struct ProgramRestart: Sendable {
  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
  /// The first descriptor that systemd passes (`SD_LISTEN_FDS_START`).
  private static let firstSocket: Int32 = 3

  private let socket: Int32?
  private let name: String

  /// Duplicates the socket that systemd passed, for the next start.
  init(socket: Int32?, name: String) {
    self.socket = socket.map { fcntl($0, F_DUPFD_CLOEXEC, 64) }
    self.name = name
  }

  /// Executes the program. Returns only on failure.
  func run() {
    var variables: [String] = []
    var entry = environ
    while let text = entry.pointee {
      let variable = String(cString: text)
      if !Self.variables.contains(where: { variable.hasPrefix("\($0)=") }) { variables.append(variable) }
      entry += 1
    }
    if let socket {
      guard dup2(socket, Self.firstSocket) == Self.firstSocket else { return }
      variables += ["LISTEN_PID=\(getpid())", "LISTEN_FDS=1", "LISTEN_FDNAMES=\(name)"]
    }
    // Until the new program handles SIGHUP, an early reload must not end it.
    _ = ProgramStart.replaceProcess(
      by: CommandLine.arguments, program: "/proc/self/exe", environment: variables, ignoring: SIGHUP)
  }
}
