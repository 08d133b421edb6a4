internal import Glibc

/// Which servers may be at the other end of the socket: a call can carry secrets, and so can its answer.
///
/// The kernel tells who began to listen, which is not always who answers: a service manager listens for its services,
/// whoever they run as.
public struct ServerTrust: Sendable {
  private let decide: @Sendable (_ uid: UInt32, _ pid: Int32, _ path: String?) -> Bool

  /// Trusts the uids for which `decide` says so.
  public init(_ decide: @escaping @Sendable (UInt32) -> Bool) { self.decide = { uid, _, _ in decide(uid) } }

  private init(at decide: @escaping @Sendable (UInt32, Int32, String?) -> Bool) { self.decide = decide }

  /// root, the caller's own user, the user `sdkd`, and whoever answers on the socket of a tenant: such a daemon has a
  /// user of the moment, and only root can have given it a socket in `/run/sdkd-tenants`.
  ///
  /// Where the system's service manager listens, or a process of another pid namespace, root is trusted only on sockets
  /// in `/run/sdkd` and `/run/sdkd-tenants`: elsewhere a service of any user can be behind it.
  public static let standard = ServerTrust(at: { uid, pid, path in
    // The cheap answers first: the user database is a walk through files and services.
    if let path, TenantSockets.system.contain(path) { return true }
    if uid == 0 { return pid > serviceManager || path.map { RootDirectory.daemon.containsSocket($0) } ?? false }
    return uid == geteuid() || uid == userID(of: "sdkd")
  })

  private static let serviceManager: Int32 = 1

  /// Whether a server is trusted.
  ///
  /// - Parameters:
  ///   - uid: the user who began to listen.
  ///   - pid: the process that did; 0 when it is not known.
  ///   - path: the socket.
  public func includes(uid: UInt32, pid: Int32, path: String? = nil) -> Bool { decide(uid, pid, path) }

  private static func userID(of name: String) -> UInt32? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.pw_uid
  }
}
