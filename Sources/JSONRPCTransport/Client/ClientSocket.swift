internal import Glibc

/// Connects to a daemon.
enum ClientSocket {
  /// A connected descriptor that doesn't block.
  static func connect(path: String, timeout: Duration) async throws -> CInt {
    guard let address = UnixAddress(path: path) else { throw ClientConnectionError.notRunning(path: path) }
    let deadline = ContinuousClock.now + timeout
    var pause = Duration.milliseconds(1)
    while true {
      let descriptor = UnixAddress.makeSocket()
      guard descriptor >= 0 else { throw ClientConnectionError.system(call: "socket", errno: errno) }
      if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
      let cause = errno
      close(descriptor)
      switch cause {
      case EAGAIN, EINTR:
        // The queue of the socket is full; the daemon may be starting.
        guard ContinuousClock.now + pause < deadline else { throw ClientConnectionError.timeout }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .milliseconds(100))
      case ENOENT, ENOTDIR, ECONNREFUSED: throw ClientConnectionError.notRunning(path: path)
      case EACCES, EPERM: throw ClientConnectionError.notPermitted(path: path)
      default: throw ClientConnectionError.system(call: "connect", errno: cause)
      }
    }
  }
}
