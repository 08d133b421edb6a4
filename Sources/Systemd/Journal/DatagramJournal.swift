import CLinux
import Glibc

/// A journal on a socket of our choice, in journald's native protocol.
///
/// For containers, where a journal is mounted somewhere else than at the path built into libsystemd, and for
/// tests. The protocol is documented at <https://systemd.io/JOURNAL_NATIVE_PROTOCOL/>.
public final class DatagramJournal: JournalDestination {
  /// The environment variable that asks for it, with the path of the socket.
  public static let environmentVariable = "SDKD_JOURNAL_SOCKET"

  private let address: UnixAddress
  private let socket: Int32

  /// The receiver need not be there yet, and may come and go.
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
      status = address.withSockaddr { address, length in
        sendto(socket, datagram, datagram.count, Int32(MSG_NOSIGNAL), address, length)
      }
    } while status < 0 && errno == EINTR
    guard status >= 0 else { throw SystemCallError("send to the journal socket", errno) }
  }

  /// `NAME=value` and a line break; with a line break in the value, `NAME`, a line break, the length in eight
  /// bytes, little endian, the value and a line break.
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
