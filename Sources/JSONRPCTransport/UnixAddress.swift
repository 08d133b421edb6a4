internal import Glibc

/// The path of a unix socket in the form that the system takes.
struct UnixAddress {
  /// The longest path, in bytes.
  static let maximumLength = 107

  private var address = sockaddr_un()

  /// `nil` if the path is empty, too long, or has a NUL in it.
  init?(path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.maximumLength, !bytes.contains(0) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  }

  /// Calls `body` with what `bind` and `connect` want.
  func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// A new unix stream socket that doesn't block; -1 with `errno` on failure.
  static func makeSocket() -> CInt {
    socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }
}
