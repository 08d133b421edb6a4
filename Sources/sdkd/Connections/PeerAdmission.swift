import Concurrency
import Glibc
import JSONRPC
import JSONRPCTransport
import Linux
import NIOCore
import SDKInstances
import SDKProtocol
import Synchronization

/// The decisions about new connections: which peers are admins, whose quotas the others count against, and which of
/// them are strangers, that is, peers that no rule admits anywhere.
///
/// Before the instances are restored, every peer that is no admin counts as a stranger. `update` corrects that, as it
/// does whenever rules change.
final class PeerAdmission: Sendable {
  private struct Known {
    var peers = KnownPeers()
    /// The version of the rules that `peers` was made of; -1 before the first time.
    var version = -1
    var pending = 0
  }

  private let registry: InstanceRegistry
  private let allowances: UserAllowances
  private let headroom = DescriptorHeadroom(limit: ConnectionLimits.descriptors)
  private let pool = BlockingPool(name: "peers", maximum: 2)
  private let known = Mutex(Known())

  /// The maximum number of connections that wait for a look-up of their process. Further ones count as in no unit.
  private static let maximumPending = 256
  /// The time after which a peer counts as in no unit.
  static let patience = Duration.seconds(5)

  init(registry: InstanceRegistry, allowances: UserAllowances) {
    self.registry = registry
    self.allowances = allowances
  }

  /// Returns the user that a peer counts for.
  func user(of peer: PeerCredentials) -> UInt32 { registry.access.names.user(of: peer.uid) }

  /// Decides about a connection. Waits for nothing: if the unit of the peer decides, the result is `pending`.
  ///
  /// - Parameter isAdopted: whether the connection was accepted by an earlier process. The limits on the number of
  ///   connections hold for it, and not those on the rate.
  func admit(_ credentials: PeerCredentials, isAdopted: Bool = false) -> ConnectionAdmission {
    guard isAdopted || headroom.isThere(after: credentials.highestDescriptor) else {
      let message = "The daemon has no file descriptors for another connection; try again later, or raise LimitNOFILE=."
      return .refused(SDKError(.limit, .rateLimit, message, retryAfter: 1).rpcError)
    }
    let peer = Peer(credentials, user: credentials.uid)
    let isAdmin = registry.access.isAdminUnlessUnknown(peer)
    if isAdmin == true { return .admitted(nil) }
    let relation = known.withLock { $0.peers.relation(to: peer) }
    guard isAdmin == nil || relation == .dependsOnUnit, begin() else {
      return count(credentials, isStranger: relation != .known, isAdopted)
    }
    return .pending { [self] in await decide(credentials, peer, isStranger: relation != .known, isAdopted) }
  }

  /// Decides about a connection after its process was looked up.
  private func decide(
    _ credentials: PeerCredentials, _ peer: Peer, isStranger: Bool, _ isAdopted: Bool
  ) async -> ConnectionAdmission {
    defer { known.withLock { $0.pending -= 1 } }
    let seen = Promise<Void>()
    pool.submit { _ in
      _ = peer.process
      seen.resolve(.success(()))
    }
    do { try await withTimeout(Self.patience) { try await seen.value() } } catch {
      return count(credentials, isStranger: isStranger, isAdopted)
    }
    if registry.access.isAdmin(peer) { return .admitted(nil) }
    return count(credentials, isStranger: known.withLock { $0.peers.relation(to: peer) != .known }, isAdopted)
  }

  private func begin() -> Bool {
    known.withLock { known in
      guard known.pending < Self.maximumPending else { return false }
      known.pending += 1
      return true
    }
  }

  private func count(_ peer: PeerCredentials, isStranger: Bool, _ isAdopted: Bool) -> ConnectionAdmission {
    allowances.admit(
      user(of: peer), isStranger: isStranger, isAdopted: isAdopted, at: NIODeadline.now().uptimeNanoseconds)
  }

  /// Takes over changed rules, also for open connections. Does nothing if the rules are the same as before.
  func update(_ connections: @autoclosure @Sendable () -> [Connection]) async {
    let version = registry.accessVersion
    guard known.withLock({ $0.version != version }) else { return }
    let peers = registry.knownPeers
    known.withLock { known in
      known.peers = peers
      known.version = version
    }
    let connections = connections()
    // The processes of some peers are looked up, which no thread of the task pool must wait for.
    try? await pool.run { [self] in
      for connection in connections {
        guard let allowance = connection.allowance else { continue }
        let peer = Peer(connection.peer, user: connection.peer.uid)
        if peers.relation(to: peer) == .dependsOnUnit { _ = peer.process }
        allowances.set(isStranger: peers.relation(to: peer) != .known, of: allowance)
      }
    }
  }
}

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

/// The file with the subordinate uids of users (subuid(5)). Ranges that only a name service has are not known.
enum SubordinateFile {
  private static let path = "/etc/subuid"
  /// The largest file that is read, in bytes.
  private static let maximumBytes = 1 << 20

  /// Returns the bytes of the file; none if it does not exist, and `nil` if it can't be read or is too large.
  static func read() -> [UInt8]? {
    do throws(FileProblem) {
      return try BoundedFile(reading: path, limit: maximumBytes).bytes
    } catch {
      return error == .system(ENOENT) ? [] : nil
    }
  }
}
