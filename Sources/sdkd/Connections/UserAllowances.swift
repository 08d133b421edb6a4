import Glibc
import JSONRPC
import JSONRPCTransport
import SDKProtocol
import Synchronization

/// The remaining quota of each user and the number of its connections. Admins are not counted.
///
/// A user is removed when it has no connection and its quota has fully recovered, so that a new one would be the same.
/// Thus reconnecting changes nothing, and the size of the table depends on the number of connections.
///
/// Strangers, that is, peers that no rule admits anywhere, have a quarter of everything together, whatever each of them
/// could have alone.
final class UserAllowances: Sendable {
  private struct User {
    let share: Share
    var connections = 0
  }

  private struct State {
    var limits: ConnectionLimits
    var users: [UInt32: User] = [:]
    var connections = 0
    /// The number of connections of strangers.
    var strangers = 0
  }

  private let state: Mutex<State>
  private let common: CommonShares

  /// The number of users by which the table may exceed the connections before unused ones are removed.
  private static let roomForResting = 64

  init(_ limits: ConnectionLimits) {
    state = Mutex(State(limits: limits))
    common = CommonShares(limits.common)
  }

  /// Replaces the limits, also for open connections. No connection is closed.
  func use(_ limits: ConnectionLimits) {
    let users = state.withLock { state in
      state.limits = limits
      return state.users.values.map(\.share)
    }
    for share in users { share.use(limits.user) }
    common.use(limits.common)
  }

  /// Counts a connection, or returns why it is refused.
  ///
  /// - Parameters:
  ///   - uid: the user that the peer counts for.
  ///   - isAdopted: whether an earlier process has accepted the connection, which then counts for no rate.
  ///   - now: nanoseconds on the clock of the event loops.
  func admit(_ uid: UInt32, isStranger: Bool, isAdopted: Bool = false, at now: UInt64) -> ConnectionAdmission {
    state.withLock { state in
      let limits = state.limits
      if state.users.count >= state.connections + Self.roomForResting, state.users[uid] == nil {
        state.users = state.users.filter { $0.value.connections > 0 || !$0.value.share.isUnused(at: now) }
      }
      let user = state.users[uid] ?? User(share: Share(limits: limits.user, user: uid))
      if user.connections >= limits.perUser {
        return refused("This user has \(limits.perUser) connections already; close one first.")
      }
      if !isAdopted, let refusal = user.share.takeConnection(at: now) { return .refused(refusal) }
      state.users[uid] = user
      if isStranger {
        if !isAdopted, let refusal = common.strangers.takeConnection(at: now) { return .refused(refusal) }
        if state.strangers >= limits.strangers {
          return refused(
            "Callers without a role on any instance have \(limits.strangers) connections already; try again later.")
        }
      }
      if state.connections >= limits.total {
        return refused("All users together have \(limits.total) connections already; try again later.")
      }
      state.users[uid]?.connections += 1
      state.connections += 1
      let allowance = Allowance(user: user.share, common: common)
      if isStranger, allowance.setPooled(true) { state.strangers += 1 }
      return .admitted(allowance)
    }
  }

  /// Records whether the peer of a counted connection is a stranger now.
  func set(isStranger: Bool, of allowance: Allowance) {
    state.withLock { state in
      if allowance.setPooled(isStranger) { state.strangers += isStranger ? 1 : -1 }
    }
  }

  /// Records that a counted connection has ended.
  func end(_ allowance: Allowance) {
    state.withLock { state in
      if let uid = allowance.user.user { state.users[uid]?.connections -= 1 }
      state.connections -= 1
      if allowance.end() { state.strangers -= 1 }
    }
  }

  /// Returns the rates that users, and all strangers together, have used up, for the next process.
  func usedRates(at now: UInt64) -> [HandedRates] {
    let shares = state.withLock { $0.users.values.map(\.share) } + [common.strangers]
    return shares.compactMap { $0.usedRates(at: now) }
  }

  /// Continues with the rates that an earlier process has counted.
  func adopt(_ rates: [HandedRates], at now: UInt64) {
    state.withLock { state in
      for used in rates {
        guard let uid = used.user else {
          common.strangers.adopt(used, at: now)
          continue
        }
        let user = state.users[uid] ?? User(share: Share(limits: state.limits.user, user: uid))
        user.share.adopt(used, at: now)
        if !user.share.isUnused(at: now) { state.users[uid] = user }
      }
    }
  }

  /// The number of remembered users, of all connections and of those of strangers.
  var counts: (users: Int, connections: Int, strangers: Int) {
    state.withLock { ($0.users.count, $0.connections, $0.strangers) }
  }

  private func refused(_ message: String) -> ConnectionAdmission {
    .refused(SDKError(.limit, .rateLimit, message, retryAfter: 1).rpcError)
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
  /// The quota that all users share.
  var common = CommonLimits.standard
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
