import JSONRPC
import JSONRPCTransport
import SDKProtocol
import Synchronization

/// The remaining quota of each uid and the number of its connections. Admins are not counted.
///
/// A uid is removed when it has no connection and its quota has fully recovered, so that a new one would be the same.
/// Thus reconnecting changes nothing, and the size of the table depends on the number of connections.
final class UserAllowances: Sendable {
  private struct User {
    let allowance: Allowance
    var connections = 0
  }

  private struct State {
    var limits: ConnectionLimits
    var users: [UInt32: User] = [:]
    var connections = 0
  }

  private let state: Mutex<State>

  /// The number of uids by which the table may exceed the connections before unused uids are removed.
  private static let roomForResting = 64

  init(_ limits: ConnectionLimits) { state = Mutex(State(limits: limits)) }

  /// Replaces the limits, also for open connections. No connection is closed.
  func use(_ limits: ConnectionLimits) {
    let users = state.withLock { state in
      state.limits = limits
      return state.users.values.map(\.allowance)
    }
    for allowance in users { allowance.use(limits.user) }
  }

  /// Counts a connection, or returns why it is refused.
  ///
  /// - Parameter now: nanoseconds on the clock of the event loops.
  func admit(_ uid: UInt32, at now: UInt64) -> ConnectionAdmission {
    state.withLock { state in
      let limits = state.limits
      if state.users.count >= state.connections + Self.roomForResting, state.users[uid] == nil {
        state.users = state.users.filter { $0.value.connections > 0 || !$0.value.allowance.isUnused(at: now) }
      }
      let user = state.users[uid] ?? User(allowance: Allowance(limits: limits.user))
      if user.connections >= limits.perUser {
        return refused("This user has \(limits.perUser) connections already; close one first.")
      }
      if let refusal = user.allowance.takeConnection(at: now) { return .refused(refusal) }
      state.users[uid] = user
      if state.connections >= limits.total {
        return refused("All users together have \(limits.total) connections already; try again later.")
      }
      state.users[uid]?.connections += 1
      state.connections += 1
      return .admitted(user.allowance)
    }
  }

  /// Records that a counted connection has ended.
  func end(_ uid: UInt32) {
    state.withLock { state in
      state.users[uid]?.connections -= 1
      state.connections -= 1
    }
  }

  /// The number of remembered uids and the number of connections.
  var counts: (users: Int, connections: Int) { state.withLock { ($0.users.count, $0.connections) } }

  private func refused(_ message: String) -> ConnectionAdmission {
    .refused(SDKError(.limit, .rateLimit, message, retryAfter: 1).rpcError)
  }
}
