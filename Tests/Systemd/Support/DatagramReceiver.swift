import CLinux
import Glibc
import Linux

@testable import Systemd

/// A bound datagram socket in the role of the service manager or journald.
final class DatagramReceiver: Sendable {
  let path: String
  private let directory: TemporaryDirectory
  private let socket: Int32

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.file("s")
    socket = cl_unix_datagram_create()
    guard socket >= 0, let address = UnixAddress(path: path) else { throw SystemCallError("socket", socket) }
    let status = address.withPointer { bind(socket, $0, $1) }
    guard status == 0 else { throw SystemCallError("bind", errno) }
  }

  deinit { close(socket) }

  /// Returns the next datagram; `nil` if none arrives within ten seconds.
  func receive() -> [UInt8]? {
    var ready = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    guard poll(&ready, 1, 10_000) == 1 else { return nil }
    var buffer = [UInt8](repeating: 0, count: 1 << 18)
    let count = recv(socket, &buffer, buffer.count, 0)
    return count >= 0 ? Array(buffer[..<count]) : nil
  }

  func receiveText() -> String? {
    receive().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Returns the next journal entry, parsed as journald parses it; `nil` if it is malformed.
  func receiveEntry() -> [(name: String, value: String)]? {
    guard let bytes = receive() else { return nil }
    var fields: [(String, String)] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "\n") })
      else { return nil }
      let name = String(decoding: rest[..<end], as: UTF8.self)
      let isBinary = rest[end] == UInt8(ascii: "\n")
      rest = rest[(end + 1)...]
      var length = rest.firstIndex(of: UInt8(ascii: "\n")).map { $0 - rest.startIndex } ?? rest.count
      if isBinary {
        guard rest.count >= 8 else { return nil }
        length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(8)
      }
      guard rest.count > length, rest[rest.startIndex + length] == UInt8(ascii: "\n") else { return nil }
      fields.append((name, String(decoding: rest.prefix(length), as: UTF8.self)))
      rest = rest.dropFirst(length + 1)
    }
    return fields
  }
}
