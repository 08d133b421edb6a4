import Glibc
public import Linux

/// A destination of the daemon's log.
public enum LogOutput: Sendable, Hashable {
  /// The journal of this machine.
  case journal
  /// A journal on another socket, named by `SDKD_JOURNAL_SOCKET`.
  case journalSocket(path: String)
  /// Lines on standard error. Prefixed lines begin with `<n>`, from which a manager reads the priority.
  case standardError(prefixed: Bool)

  /// Chooses the destination by the environment and standard error.
  ///
  /// It chooses the journal only if standard error is the stream in `JOURNAL_STREAM`: every process of a desktop
  /// session inherits the variable. It chooses prefixed lines if systemd started this very process and standard error
  /// is not a terminal.
  public static func detect() -> LogOutput {
    detect(
      variable: Environment.value, standardError: STDERR_FILENO, journal: LibsystemdJournal.socketPath)
  }

  static func detect(
    variable: (String) -> String?, standardError: Int32, journal: String
  ) -> LogOutput {
    if let path = variable(DatagramJournal.environmentVariable) { return .journalSocket(path: path) }
    if let stream = variable("JOURNAL_STREAM"), isStream(standardError, stream) {
      // With another root directory the socket can be missing, and libsystemd would report no error.
      return access(journal, F_OK) == 0 ? .journal : .standardError(prefixed: true)
    }
    let startedBySystemd = variable("SYSTEMD_EXEC_PID") == String(getpid())
    return .standardError(prefixed: startedBySystemd && isatty(standardError) == 0)
  }

  /// Whether a descriptor is the stream `device:inode`, both in decimal.
  private static func isStream(_ fileDescriptor: Int32, _ stream: String) -> Bool {
    let parts = stream.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else { return false }
    var status = stat()
    guard fstat(fileDescriptor, &status) == 0 else { return false }
    return UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
  }

  /// Returns the sink that writes to this destination.
  public func sink(identifier: String = "sdkd") throws(SystemCallError) -> any LogSink {
    switch self {
    case .journal: JournalSink(destination: LibsystemdJournal(), identifier: identifier)
    case .journalSocket(let path):
      JournalSink(destination: try DatagramJournal(path: path), identifier: identifier)
    case .standardError(let prefixed): StandardErrorSink(prefixed: prefixed)
    }
  }
}
