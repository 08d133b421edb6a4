import JSONRPC
import SDKProtocol
import Synchronization

/// How many connections each uid has; admins are not counted.
final class ConnectionCounts: Sendable {
  private let counts = Mutex<[UInt32: Int]>([:])
  private let limit: Int

  init(limit: Int) { self.limit = limit }

  /// Counts a connection, or says why it is refused.
  func admit(_ uid: UInt32) -> RPCError? {
    let isAdmitted = counts.withLock { counts in
      guard counts[uid, default: 0] < limit else { return false }
      counts[uid, default: 0] += 1
      return true
    }
    if isAdmitted { return nil }
    return SDKError(
      .limit, .rateLimit, "This user has \(limit) connections already; close one first.", retryAfter: 1
    ).rpcError
  }

  /// A counted connection has ended.
  func end(_ uid: UInt32) {
    counts.withLock { counts in
      let left = counts[uid, default: 0] - 1
      counts[uid] = left > 0 ? left : nil
    }
  }
}
