import Glibc

/// `journalctl`, running: gives the journal's entries as JSON, one a line.
struct JournalReader {
  private let process: ChildProcess

  /// Starts it.
  ///
  /// - Throws: `CommandFailure` when there is none.
  init(_ arguments: [String]) throws {
    do {
      process = try ChildProcess(["journalctl"] + arguments)
    } catch {
      throw CommandFailure(
        message: "journalctl can't be run: \(error.description).", reason: "journal", status: 1,
        hints: ["without a journal, read the daemon's log with --file PATH"])
    }
  }

  /// Where its lines come from.
  var output: CInt { process.output }

  /// What it says when its output has ended: its complaint, and whether it failed.
  func end() throws(ChildProcess.Failure) -> (failed: Bool, complaint: String) {
    let ended = try process.end()
    return (ended.status != 0, ended.errors)
  }

  /// Whether a complaint says that the user may not see the journal of the system.
  static func isBlind(_ complaint: String) -> Bool {
    complaint.contains("insufficient permissions") || complaint.contains("not seeing messages")
  }
}
