internal import Glibc

/// Which users may be at the other end of the socket: a call can carry secrets, and so can its answer.
public struct ServerTrust: Sendable {
  private let decide: @Sendable (_ uid: UInt32, _ path: String?) -> Bool

  /// Trusts the uids for which `decide` says so.
  public init(_ decide: @escaping @Sendable (UInt32) -> Bool) { self.decide = { uid, _ in decide(uid) } }

  private init(at decide: @escaping @Sendable (UInt32, String?) -> Bool) { self.decide = decide }

  /// root, the caller's own user, the user `sdkd`, and on the socket of a tenant whoever answers there: such a daemon
  /// has a user of the moment, and only root can have given it a socket in `/run/sdkd-tenants`.
  public static let standard = ServerTrust(at: { uid, path in
    // The cheap answers first: the user database is a walk through files and services.
    uid == 0 || uid == geteuid() || path.map { TenantSockets.system.contain($0) } ?? false
      || uid == userID(of: "sdkd")
  })

  /// Whether a server that runs as `uid` is trusted.
  ///
  /// - Parameter path: of the socket that it answers on.
  public func includes(uid: UInt32, path: String? = nil) -> Bool { decide(uid, path) }

  private static func userID(of name: String) -> UInt32? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.pw_uid
  }
}
