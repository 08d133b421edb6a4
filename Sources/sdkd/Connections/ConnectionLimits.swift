import Glibc
import JSONRPCTransport

/// How many connections others than admins may have, and what each uid may ask for on its own.
struct ConnectionLimits: Sendable, Hashable {
  /// Connections of one uid.
  var perUser = 128
  /// Connections of all uids together.
  var total = 2048
  /// What a uid's connections may ask for.
  var user = AllowanceLimits()
}

extension ConnectionLimits {
  /// The same with a total that leaves half of the process's descriptors to admins, providers and vendors. A connection
  /// takes two descriptors: its socket, and one that pins the peer's process.
  func fitting(descriptors: Int) -> ConnectionLimits {
    var fitting = self
    fitting.total = max(1, min(total, descriptors / 4))
    return fitting
  }

  /// How many descriptors this process may have open.
  static var descriptors: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
    return Int(clamping: limit.rlim_cur)
  }
}
