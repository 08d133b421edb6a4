import Glibc
import JSONRPCTransport

/// The number of connections that non-admins may have, and the quota of each uid.
struct ConnectionLimits: Sendable, Hashable {
  /// The number of connections of one uid.
  var perUser = 128
  /// The number of connections of all uids together.
  var total = 2048
  /// The quota that all connections of a uid share.
  var user = AllowanceLimits()
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
