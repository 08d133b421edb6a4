internal import Glibc

/// The path of a unix socket as a `sockaddr_un`.
struct UnixAddress {
  /// The longest path, in bytes.
  static let maximumLength = 107

  private var address = sockaddr_un()

  /// Makes an address. Returns `nil` if the path is empty, too long, or contains a NUL.
  init?(path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.maximumLength, !bytes.contains(0) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  }

  /// Calls `body` with the address and its length, as `bind` and `connect` take them.
  func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Makes a non-blocking unix stream socket. Returns -1 with `errno` on failure.
  static func makeSocket() -> CInt {
    socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }
}
