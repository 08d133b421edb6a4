import Glibc
import Linux
import Systemd

/// A restart that executes the program again in the same process, with its socket, its arguments and its environment.
///
/// The service manager does not notice the restart, and the control socket stays open.
struct ProgramRestart: Sendable {
  /// The name of a control socket that the daemon has bound itself, and whose file it removes at its end.
  static let ownSocketName = "sdkd.own"

  private static let variables = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]

  private let socket: OwnedDescriptor?
  private let name: String

  /// Duplicates the control socket for the next start.
  init(socket: Int32?, name: String) {
    let copy = socket.map { fcntl($0, F_DUPFD_CLOEXEC, 64) } ?? -1
    self.socket = copy < 0 ? nil : OwnedDescriptor(copy)
    self.name = name
  }

  /// Executes the program. Returns only on failure.
  ///
  /// - Parameter bag: the connections that it continues, under the name `HandOver.name`.
  func run(handingOver bag: OwnedDescriptor? = nil) {
    var variables: [String] = []
    var entry = environ
    while let text = entry.pointee {
      let variable = String(cString: text)
      if !Self.variables.contains(where: { variable.hasPrefix("\($0)=") }) { variables.append(variable) }
      entry += 1
    }
    let passed = [socket.map { ($0, name) }, bag.map { ($0, HandOver.name) }].compactMap(\.self)
    // First above the numbers that they shall have, so that none replaces another.
    let copies = passed.map { fcntl($0.0.raw, F_DUPFD_CLOEXEC, 64) }
    for (index, copy) in copies.enumerated() {
      let number = ActivatedSockets.firstDescriptor + Int32(index)
      guard copy >= 0, dup2(copy, number) == number else { return }
    }
    if !passed.isEmpty {
      variables += [
        "LISTEN_PID=\(getpid())", "LISTEN_FDS=\(passed.count)",
        "LISTEN_FDNAMES=\(passed.map(\.1).joined(separator: ":"))",
      ]
    }
    // Until the new program handles these signals, an early one must not end it.
    _ = ProgramStart.replaceProcess(
      by: CommandLine.arguments, program: Self.program, environment: variables, ignoring: [SIGHUP, SIGUSR2])
  }

  /// The file that this process was started from, or the one that has replaced it since; `/proc/self/exe` if there is
  /// none.
  private static var program: String {
    let this = "/proc/self/exe"
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(this, &path, path.count)
    guard count > 0 else { return this }
    var text = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let deleted = " (deleted)"
    if text.hasSuffix(deleted) { text.removeLast(deleted.count) }
    return access(text, X_OK) == 0 ? text : this
  }
}
