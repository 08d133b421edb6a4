import Glibc
import JSONRPC
import Linux
import SDKProtocol

/// A text with the facts that a maintainer needs to understand a report.
struct SupportBundle {
  let sections: [BundleSection]
  /// Whether the daemon has said who its users are, so that they were taken out of texts.
  let knowsUsers: Bool

  /// The sentences that say what the bundle contains and what it leaves out.
  var notes: [String] {
    [
      "It holds no token, key, \(knowsUsers ? "user, " : "")label, stored value or output of a token provider.",
      "It names instances, hosts, files, and the Linux users of this machine.",
    ] + (knowsUsers ? [] : ["The daemon did not say who its users are: lines of the journal may name them."])
  }

  /// The whole text.
  var text: String { (notes + [""] + sections.map(\.text)).joined(separator: "\n") }

  /// The table of the sections, for people.
  var table: Table {
    Table(
      header: ["SECTION", "BYTES", "SOURCE"],
      rows: sections.map { section in
        switch section.content {
        case .text(let text, _): [.init(section.name, .bold), .init("\(text.utf8.count)"), .init(section.source)]
        case .missing(let reason):
          [.init(section.name, .bold), .init("-", .doubtful), .init("not gathered: \(reason)")]
        }
      })
  }

  /// Writes the text into a new file that only its owner can read.
  ///
  /// - Throws: `CommandFailure` when there is a file already, or it can't be written. Then no new file is left.
  func write(to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(path, errno) }
    defer { close(descriptor) }
    do {
      // The umask can take bits away.
      guard fchmod(descriptor, 0o600) == 0 else { throw Self.failure(path, errno) }
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 { rest = rest.dropFirst(count) } else if errno != EINTR { throw Self.failure(path, errno) }
      }
      guard fsync(descriptor) == 0 || errno == EINVAL else { throw Self.failure(path, errno) }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Throws if there is a file already.
  static func checkAbsence(of path: String) throws {
    var status = stat()
    guard lstat(path, &status) != 0 else { throw failure(path, EEXIST) }
  }

  private static func failure(_ path: String, _ error: Int32) -> CommandFailure {
    error == EEXIST
      ? CommandFailure(
        message: "\(path) exists already, and nothing was written.", reason: "exists", status: 1,
        hints: ["name another file, or remove this one"])
      : CommandFailure(
        message: "\(path) can't be written: \(SystemCallError.text(of: error)).", reason: "output", status: 1)
  }
}
