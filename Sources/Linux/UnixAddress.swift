public import Glibc

/// The address of a unix socket in the file system.
public struct UnixAddress: Sendable {
  /// The maximum length of a path in bytes.
  public static let maximumLength = 107

  private var address = sockaddr_un()

  /// Creates the address of a path. Returns `nil` if the path is empty, too long, or contains a NUL.
  public init?(path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.maximumLength, !bytes.contains(0) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  }

  /// Calls `body` with a pointer to the address and the address's length, as `bind`, `connect` and `sendto` take them.
  /// Returns the result of `body`.
  public func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Returns the path that a socket is bound to; `nil` for an unbound socket and for an abstract name.
  public static func path(of descriptor: CInt) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let bytes = withUnsafeBytes(of: address.sun_path) { Array($0.prefix { $0 != 0 }) }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }

  /// Creates a non-blocking unix stream socket with `SOCK_CLOEXEC` and returns its descriptor. On failure returns -1
  /// and sets `errno`.
  public static func makeSocket() -> CInt {
    socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
  }
}
