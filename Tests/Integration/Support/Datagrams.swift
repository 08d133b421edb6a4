import Foundation
import Glibc

/// A datagram socket that keeps what it receives, in place of the journal or of systemd's notify socket.
final class Datagrams: @unchecked Sendable {
  private let descriptor: Int32
  private var all: [String] = []

  init(_ path: String) throws {
    // SOCK_DGRAM | SOCK_CLOEXEC
    descriptor = socket(AF_UNIX, 2 | 0o2_000_000, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8) + [0]) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) }
    }
    guard status == 0 else { throw Program.Failure(description: "no socket at \(path)") }
  }

  deinit { close(descriptor) }

  var received: [String] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return all }
      all.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }
}
