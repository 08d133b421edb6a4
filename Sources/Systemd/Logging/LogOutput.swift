import Glibc

/// Where the daemon's log goes.
public enum LogOutput: Sendable, Hashable {
  /// The journal of this machine.
  case journal
  /// A journal on another socket, named by `SDKD_JOURNAL_SOCKET`.
  case journalSocket(path: String)
  /// Lines on standard error; prefixed ones are for a manager that reads the priority from `<n>`.
  case standardError(prefixed: Bool)

  /// Looks at the environment and at standard error.
  ///
  /// The journal only if standard error is the stream that `JOURNAL_STREAM` names, as the variable alone is
  /// inherited by everything that is started in a desktop session. Prefixed lines only where systemd started
  /// this very process and standard error is no terminal.
  public static func detect() -> LogOutput {
    detect(
      variable: Environment.value, standardError: STDERR_FILENO, journal: LibsystemdJournal.socketPath)
  }

  static func detect(
    variable: (String) -> String?, standardError: Int32, journal: String
  ) -> LogOutput {
    if let path = variable(DatagramJournal.environmentVariable) { return .journalSocket(path: path) }
    if let stream = variable("JOURNAL_STREAM"), isStream(standardError, stream) {
      // In a root directory of its own the socket can be missing, and libsystemd would be silent about it.
      return access(journal, F_OK) == 0 ? .journal : .standardError(prefixed: true)
    }
    let startedBySystemd = variable("SYSTEMD_EXEC_PID") == String(getpid())
    return .standardError(prefixed: startedBySystemd && isatty(standardError) == 0)
  }

  /// Whether a descriptor is the stream, given as device and inode in decimal with a colon between.
  private static func isStream(_ fileDescriptor: Int32, _ stream: String) -> Bool {
    let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else { return false }
    var status = stat()
    guard fstat(fileDescriptor, &status) == 0 else { return false }
    return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
  }

  /// What writes there.
  public func sink(identifier: String = "sdkd") throws(SystemCallError) -> any LogSink {
    switch self {
    case .journal: JournalSink(destination: LibsystemdJournal(), identifier: identifier)
    case .journalSocket(let path):
      JournalSink(destination: try DatagramJournal(path: path), identifier: identifier)
    case .standardError(let prefixed): StandardErrorSink(prefixed: prefixed)
    }
  }
}
