import Glibc
import JSONRPCTransport

/// The file descriptors reserved from connections, for providers, vendors, the store and refusals.
struct DescriptorHeadroom: Sendable {
  /// The lowest descriptor that is reserved.
  let threshold: Int32

  /// Creates the headroom of a process with this descriptor limit.
  init(limit: Int) { threshold = Int32(clamping: limit - min(limit / 4, 64)) }

  /// Whether the reserve stays free if a new connection is served.
  ///
  /// The kernel returns the lowest free descriptor: when that is not below the threshold, all below it are in use. The
  /// connection's own must be below, too: it may have got them before lower ones became free.
  ///
  /// - Parameter highest: the highest descriptor of the connection.
  func isThere(after highest: Int32) -> Bool {
    guard highest < threshold else { return false }
    let lowest = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
    // None is free if the reserve is in use for a moment, or the limit was lowered after the start. This connection
    // takes none of the reserve, and others wait to be accepted.
    guard lowest >= 0 else { return true }
    close(lowest)
    return lowest < threshold
  }
}

/// The number of connections that non-admins may have, and the quotas that they share.
struct ConnectionLimits: Sendable, Hashable {
  /// The number of connections of one user.
  var perUser = 128
  /// The number of connections of all users together.
  var total = 2048
  /// The quota that all connections of a user share.
  var user = AllowanceLimits()
  /// The number of messages of all users per second.
  var totalMessagesPerSecond = 16_000
  /// The number of buffered bytes of all users.
  var totalBufferedBytes = 256 << 20
  /// The number of connections of all strangers together.
  var strangers: Int { max(1, total / 4) }
}

extension ConnectionLimits {
  /// Returns these limits with a total that leaves half of the process's descriptors to admins, providers and vendors.
  /// A connection takes two descriptors: its socket, and one that pins the peer's process.
  func fitting(descriptors: Int) -> ConnectionLimits {
    var fitting = self
    fitting.total = max(1, min(total, descriptors / 4))
    return fitting
  }

  /// The number of descriptors that this process may have open.
  static var descriptors: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }
}
