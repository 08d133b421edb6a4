import Glibc
import JSONRPCTransport
import Linux
import SDKClient

/// A connection to the daemon for another program, which can't check by itself who listens.
enum TrustedSocket {
  /// Returns a connected, non-blocking descriptor. Retries while the daemon's backlog is full.
  ///
  /// - Throws: `SDKClientError`, `untrustedServer` for a server that clients do not trust.
  static func connect(to location: SocketLocation, within time: Duration) throws -> CInt {
    let path = try location.path()
    let descriptor = try connect(path, until: .now + time)
    let server = PeerCredentials(descriptor: descriptor)
    let uid = server?.uid ?? .max
    guard ServerTrust.standard.includes(uid: uid, pid: server?.pid ?? 0, path: path) else {
      close(descriptor)
      throw SDKClientError.untrustedServer(uid: uid)
    }
    return descriptor
  }

  private static func connect(_ path: String, until deadline: ContinuousClock.Instant) throws -> CInt {
    guard let address = UnixAddress(path: path) else { throw SDKClientError.noDaemon(path: path) }
    while true {
      let descriptor = UnixAddress.makeSocket()
      guard descriptor >= 0 else { throw SDKClientError.system(call: "socket", errno: errno) }
      if address.withPointer({ Glibc.connect(descriptor, $0, $1) }) == 0 { return descriptor }
      let cause = errno
      close(descriptor)
      switch cause {
      case EAGAIN, EINTR:
        guard ContinuousClock.now < deadline else { throw SDKClientError.timeout }
        poll(nil, 0, 10)
      case ENOENT, ENOTDIR, ECONNREFUSED: throw SDKClientError.noDaemon(path: path)
      case EACCES, EPERM: throw SDKClientError.notPermitted(path: path)
      default: throw SDKClientError.system(call: "connect", errno: cause)
      }
    }
  }
}
