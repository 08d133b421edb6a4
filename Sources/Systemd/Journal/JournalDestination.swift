import CLinux
import CSystemd
import Glibc
public import Linux

/// A destination for journal entries.
public protocol JournalDestination: Sendable {
  /// Sends one entry. May block until journald accepts it.
  func send(_ fields: [JournalField]) throws(SystemCallError)
}

/// The journal of this machine, by `sd_journal_sendv(3)`.
public struct LibsystemdJournal: JournalDestination {
  /// The socket that libsystemd writes to.
  public static let socketPath = "/run/systemd/journal/socket"

  /// Creates a destination that opens nothing before its first entry.
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

/// A journal on a configurable socket, in journald's native protocol.
///
/// It serves tests, and containers whose journal is mounted at another path than the one built into libsystemd. The
/// protocol is documented at <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>.
public final class DatagramJournal: JournalDestination {
  /// The environment variable that selects this journal. Its value is the path of the socket.
  public static let environmentVariable = "SDKD_JOURNAL_SOCKET"

  private let address: UnixAddress
  private let socket: Int32

  /// Creates a journal at this path. The receiver need not exist yet, and may disappear and return.
  public init(path: String) throws(SystemCallError) {
    guard let address = UnixAddress(path: path) else {
      throw SystemCallError("use \(path) as a socket", ENAMETOOLONG)
    }
    let socket = cl_unix_datagram_create()
    guard socket >= 0 else { throw SystemCallError("socket", socket) }
    self.address = address
    self.socket = socket
  }

  deinit { close(socket) }

  /// Sends one entry as one datagram.
  public func send(_ fields: [JournalField]) throws(SystemCallError) {
    let datagram = Self.datagram(fields)
    var status: Int
    repeat {
      status = address.withPointer { address, length in
        sendto(socket, datagram, datagram.count, Int32(MSG_NOSIGNAL), address, length)
      }
    } while status < 0 && errno == EINTR
    guard status >= 0 else { throw SystemCallError("send to the journal socket", errno) }
  }

  /// Returns the fields in the native protocol.
  ///
  /// A field is `NAME=value` and a line break. If the value contains a line break, the field is `NAME`, a line break,
  /// the length in eight bytes (little endian), the value and a line break.
  static func datagram(_ fields: [JournalField]) -> [UInt8] {
    let lineBreak = UInt8(ascii: "\n")
    var bytes: [UInt8] = []
    for field in fields {
      bytes.append(contentsOf: field.name.utf8)
      if field.value.utf8.contains(lineBreak) {
        bytes.append(lineBreak)
        withUnsafeBytes(of: UInt64(field.value.utf8.count).littleEndian) { bytes.append(contentsOf: $0) }
      } else {
        bytes.append(UInt8(ascii: "="))
      }
      bytes.append(contentsOf: field.value.utf8)
      bytes.append(lineBreak)
    }
    return bytes
  }
}
