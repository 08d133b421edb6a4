internal import Glibc
internal import JSONRPC
internal import JSONRPCTransport
internal import Synchronization

/// A rule for the servers to trust at the other end of the socket. Calls and their results can carry secrets.
///
/// The kernel reports the process that began to listen, which is not always the process that responds. A service
/// manager listens for its services, under any user.
public struct ServerTrust: Sendable {
  private let decide: @Sendable (_ uid: UInt32, _ pid: Int32, _ path: String?) -> Bool

  /// Creates a rule that trusts the uids for which `decide` returns `true`.
  public init(_ decide: @escaping @Sendable (UInt32) -> Bool) { self.decide = { uid, _, _ in decide(uid) } }

  private init(at decide: @escaping @Sendable (UInt32, Int32, String?) -> Bool) { self.decide = decide }

  /// The default rule: trusts root, the caller's own user, the user `sdkd`, and every server on a tenant's socket. A
  /// tenant's daemon has a dynamic user, but only root can have created its socket in `/run/sdkd-tenants`.
  ///
  /// A listener of uid 0 can be the system's service manager or belong to another pid namespace. It is then trusted
  /// only on sockets in `/run/sdkd` and `/run/sdkd-tenants`: elsewhere, a service of any user can be behind it.
  public static let standard = ServerTrust(at: { uid, pid, path in
    // Cheap checks first: a lookup in the user database reads files and contacts services.
    if let path, TenantSockets.system.contain(path) { return true }
    if uid == 0 { return pid > serviceManager || path.map { RootDirectory.daemon.containsSocket($0) } ?? false }
    return uid == geteuid() || uid == userID(of: "sdkd")
  })

  private static let serviceManager: Int32 = 1

  /// Whether a server is trusted.
  ///
  /// - Parameters:
  ///   - uid: the user who began to listen.
  ///   - pid: the process that began to listen; 0 if unknown.
  ///   - path: the path of the socket.
  public func includes(uid: UInt32, pid: Int32, path: String? = nil) -> Bool { decide(uid, pid, path) }

  private static func userID(of name: String) -> UInt32? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.pw_uid
  }
}

/// A gate that rejects a server's requests until the server is trusted.
final class TrustGate: Sendable {
  private let isOpen = Atomic(false)

  /// Opens the gate: later requests reach the handler.
  func open() { isOpen.store(true, ordering: .releasing) }

  /// Returns a handler that passes requests to `handler`, but throws `methodNotFound` until the gate is open.
  func guarding(_ handler: @escaping ClientConnection.RequestHandler) -> ClientConnection.RequestHandler {
    { [self] method, params async throws(RPCError) in
      guard isOpen.load(ordering: .acquiring) else { throw .methodNotFound(method, nearest: nil) }
      return try await handler(method, params)
    }
  }
}
