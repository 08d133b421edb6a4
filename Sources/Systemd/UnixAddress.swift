import Glibc

/// The address of a unix socket in the file system.
struct UnixAddress: Sendable {
  private let storage: sockaddr_un
  private let length: socklen_t

  /// The address of a path; nil if the path is empty, has a NUL or is longer than the kernel accepts (107 bytes).
  init?(path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count < room, !bytes.contains(0) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    storage = address
    length = socklen_t(MemoryLayout<sockaddr_un>.size)
  }

  /// Calls `body` with the address in the form that bind, connect and sendto take.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }

  /// Returns the path that a socket is bound to; nil without one, and for names outside the file system.
  static func path(of fd: Int32) -> String? {
    var address = sockaddr_un()
    let capacity = MemoryLayout<sockaddr_un>.size
    var length = socklen_t(capacity)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(fd, $0, &length) }
    }
    guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix { $0 != 0 }) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}
