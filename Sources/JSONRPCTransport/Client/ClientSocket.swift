internal import Glibc
internal import Linux

/// The functions that connect a socket to a daemon.
enum ClientSocket {
  /// Returns a connected, non-blocking descriptor. Retries while the backlog is full, until `timeout`.
  static func connect(path: String, timeout: Duration) async throws -> CInt {
    let deadline = ContinuousClock.now + timeout
    var pause = Duration.milliseconds(1)
    while true {
      if let descriptor = try attempt(path) { return descriptor }
      guard ContinuousClock.now + pause < deadline else { throw ClientConnectionError.timeout }
      try await Task.sleep(for: pause)
      pause = min(pause * 2, .milliseconds(100))
    }
  }

  /// Tries to connect once. Returns `nil` if it should be tried again: the socket's backlog is full, or a signal
  /// interrupted.
  static func attempt(_ path: String) throws(ClientConnectionError) -> CInt? {
    guard let address = UnixAddress(path: path) else { throw .notRunning(path: path) }
    let descriptor = UnixAddress.makeSocket()
    guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
    if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
    let cause = errno
    close(descriptor)
    switch cause {
    case EAGAIN, EINTR: return nil
    case ENOENT, ENOTDIR, ECONNREFUSED: throw .notRunning(path: path)
    case EACCES, EPERM: throw .notPermitted(path: path)
    default: throw .system(call: "connect", errno: cause)
    }
  }
}
