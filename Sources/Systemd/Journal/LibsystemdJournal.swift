import CSystemd
import Glibc
public import Linux

/// The journal of this machine, by `sd_journal_sendv(3)`.
public struct LibsystemdJournal: JournalDestination {
  /// The socket that libsystemd writes to.
  public static let socketPath = "/run/systemd/journal/socket"

  /// A destination that opens nothing before its first entry.
  public init() {}

  /// Sends one entry. libsystemd reports no error if journald is missing: see ``LogOutput/detect()``.
  public func send(_ fields: [JournalField]) throws(SystemCallError) {
    var bytes: [UInt8] = []
    var ranges: [Range<Int>] = []
    ranges.reserveCapacity(fields.count)
    for field in fields {
      let start = bytes.count
      bytes.append(contentsOf: field.name.utf8)
      bytes.append(UInt8(ascii: "="))
      bytes.append(contentsOf: field.value.utf8)
      ranges.append(start..<bytes.count)
    }
    let status = bytes.withUnsafeMutableBytes { buffer in
      let vectors = ranges.map { range in
        iovec(iov_base: buffer.baseAddress?.advanced(by: range.lowerBound), iov_len: range.count)
      }
      return sd_journal_sendv(vectors, Int32(clamping: vectors.count))
    }
    guard status >= 0 else { throw SystemCallError("sd_journal_sendv", status) }
  }
}

/// A destination for journal entries.
public protocol JournalDestination: Sendable {
  /// Sends one entry. May block until journald accepts it.
  func send(_ fields: [JournalField]) throws(SystemCallError)
}
