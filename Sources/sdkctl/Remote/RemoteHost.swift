import Glibc
import JSONRPC
import JSONRPCTransport
import Linux
import SDKClient
import Synchronization

/// A daemon on another machine: each connection is an `ssh` that runs `sdkctl stdio-bridge` there.
///
/// Nothing but the connection is remote: verbs, files and output stay on this machine. Authentication and encryption
/// are those of ssh, and its configuration applies.
final class RemoteHost: Sendable {
  private struct State {
    /// The number of `ssh` processes that have not ended.
    var running = 0
    /// The exit status of the first `ssh` that failed.
    var failure: Int32?
  }

  /// The error of a connection after `ssh` failed: another attempt would only repeat its message.
  struct Unreachable: Error {}

  /// The time to wait for the end of `ssh` after its connection was lost.
  private static let patience = Duration.seconds(5)

  let name: String
  private let words: [String]
  private let state = Mutex(State())

  /// Creates a host. It is first contacted when a connection is needed.
  ///
  /// - Parameters:
  ///   - name: the host as ssh takes it, such as `admin@kiosk-7`.
  ///   - options: the words of `sdkctl stdio-bridge` that name the daemon on that machine.
  init(_ name: String, options: [String]) {
    self.name = name
    words = ["ssh", "-xT", "--", name] + ["sdkctl", "stdio-bridge"] + options.map(Self.quoted)
  }

  /// Whether ssh takes a text as a host, and not as an option or several words.
  static func isName(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-") && text.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
  }

  /// Whether an error can come from a lost connection. If `ssh` failed, it has then reported the cause itself.
  static func isLoss(_ error: any Error) -> Bool {
    switch error {
    case is Unreachable: true
    case SDKClientError.closed, SDKClientError.outcomeUnknown(_, .connectionEnded): true
    default: false
    }
  }

  /// Returns a word quoted for the remote shell, which then passes it on unchanged.
  static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { byte in
      Character(UnicodeScalar(byte)).isLetter && byte < 0x80 || (0x30...0x39).contains(byte)
        || "-_./".utf8.contains(byte)
    }
    return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
  }

  /// The connector that starts an `ssh` for each connection. The client has one connection at a time, so that an `ssh`
  /// that still runs has lost the former one and is about to end.
  var connector: SDKConnector {
    { _, onRequest in
      guard await self.failureStatus() == nil else { throw Unreachable() }
      let descriptor = try self.start()
      return try ClientConnection.take(descriptor, .standard, onRequest)
    }
  }

  /// Returns the exit status of an `ssh` that failed; `nil` if none did. Waits for those that have lost their
  /// connection.
  func failureStatus() async -> Int32? {
    let deadline = ContinuousClock.now + Self.patience
    while true {
      let (running, failure) = state.withLock { ($0.running, $0.failure) }
      guard failure == nil, running > 0, ContinuousClock.now < deadline else { return failure }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  /// Starts `ssh` with a socket as its standard input and output. Returns the other end.
  private func start() throws -> CInt {
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      throw SDKClientError.system(call: "socketpair", errno: errno)
    }
    defer { close(ends[1]) }
    let child: pid_t
    do throws(SystemCallError) {
      child = try ProgramStart.spawn(
        words, streams: ProgramStart.Streams(input: ends[1], output: ends[1]), signals: .asStarted)
    } catch {
      close(ends[0])
      throw CommandFailure(
        message: "ssh can't be run: \(SystemCallError.text(of: error.errorNumber)).", reason: "program", status: 1,
        hints: ["apt install openssh-client"])
    }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    state.withLock { $0.running += 1 }
    try SystemThread.start(name: "ssh", stackSize: 256 << 10) { [self] in wait(for: child) }
    return ends[0]
  }

  private func wait(for pid: pid_t) {
    var raw: Int32 = 0
    while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    let status = raw & 0x7F == 0 ? raw >> 8 & 0xFF : 128 + (raw & 0x7F)
    state.withLock { state in
      state.running -= 1
      if status != 0, state.failure == nil { state.failure = status }
    }
  }
}
