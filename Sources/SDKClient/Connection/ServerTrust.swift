internal import Glibc

/// Which users may be at the other end of the socket: a call can carry secrets, and so can its answer.
public struct ServerTrust: Sendable {
  private let decide: @Sendable (UInt32) -> Bool

  /// Trusts the uids for which `decide` says so.
  public init(_ decide: @escaping @Sendable (UInt32) -> Bool) { self.decide = decide }

  /// root, the caller's own user, and the user `sdkd`.
  public static let standard = ServerTrust { uid in
    // The cheap answers first: the user database is a walk through files and services.
    uid == 0 || uid == geteuid() || uid == userID(of: "sdkd")
  }

  /// Whether a server that runs as `uid` is trusted.
  public func includes(uid: UInt32) -> Bool { decide(uid) }

  private static func userID(of name: String) -> UInt32? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.pw_uid
  }
}
