import Glibc

/// A running `journalctl`, which prints the journal's entries as JSON, one per line.
struct JournalReader {
  private let process: ChildProcess

  /// Starts `journalctl`.
  ///
  /// - Throws: `CommandFailure` when it can't be started.
  init(_ arguments: [String]) throws {
    do {
      process = try ChildProcess(["journalctl"] + arguments)
    } catch {
      throw CommandFailure(
        message: "journalctl can't be run: \(error.description).", reason: "journal", status: 1,
        hints: ["without a journal, read the daemon's log with --file PATH"])
    }
  }

  /// The descriptor of its standard output.
  var output: CInt { process.output }

  /// Waits for its end. Returns whether it failed, and the text of its standard error.
  func end() throws(ChildProcess.Failure) -> (failed: Bool, complaint: String) {
    let ended = try process.end()
    return (ended.status != 0, ended.errors)
  }

  /// Whether a complaint says that there is no journal.
  static func isMissing(_ complaint: String) -> Bool { complaint.contains("No journal files were found") }

  /// Whether a complaint says that the user may not read the journal of the system.
  static func isBlind(_ complaint: String) -> Bool {
    complaint.contains("insufficient permissions") || complaint.contains("not seeing messages")
  }
}
