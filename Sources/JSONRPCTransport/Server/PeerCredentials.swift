internal import CLinux
internal import Glibc

/// The credentials of the process at the other end of a socket. The kernel recorded them when that process connected or
/// began to listen.
public struct PeerCredentials: Sendable {
  /// The process ID; 0 for a process of another pid namespace.
  public let pid: Int32
  /// The effective user ID.
  public let uid: UInt32
  /// The effective group ID.
  public let gid: UInt32
  /// The supplementary group IDs.
  public let groups: [UInt32]
  /// The process itself, protected against reuse of its number. `nil` if it had ended or could not be pinned, or if no
  /// pinning was requested.
  public let process: PinnedProcess?
  /// The highest descriptor of the connection, which has one for its socket and may have one for the process; -1 in
  /// credentials made for a test.
  public private(set) var highestDescriptor: Int32 = -1

  /// Makes credentials for a test.
  public init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], process: PinnedProcess? = nil) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.process = process
  }

  /// Reads the credentials of the peer of a connected unix socket. Returns `nil` if the kernel has none.
  ///
  /// - Parameter pins: whether to pin the process, so that a later one with its number is not taken for it.
  public init?(descriptor: Int32, pins: Bool = false) {
    var pid: pid_t = 0
    var uid: uid_t = 0
    var gid: gid_t = 0
    guard cl_peer_credentials(descriptor, &pid, &uid, &gid) == 0,
      let groups = Self.groups(of: descriptor)
    else { return nil }
    self.init(
      pid: pid, uid: uid, gid: gid, groups: groups,
      process: pins ? PinnedProcess(socket: descriptor, pid: pid, uid: uid, gid: gid) : nil)
    highestDescriptor = max(descriptor, process?.descriptor ?? -1)
  }

  /// The credentials with the process as another process has pinned it, unless the kernel still has a descriptor of it.
  ///
  /// - Parameter start: the start time by which it is pinned; `nil` if it was not pinned so.
  func pinned(byStart start: UInt64?) -> PeerCredentials {
    guard process?.descriptor == nil else { return self }
    return with(start.map { PinnedProcess(pid: pid, uid: uid, gid: gid, start: $0) })
  }

  /// The credentials with the process as it was pinned or seen elsewhere.
  func with(_ process: PinnedProcess?) -> PeerCredentials {
    PeerCredentials(pid: pid, uid: uid, gid: gid, groups: groups, process: process)
  }

  private static func groups(of descriptor: CInt) -> [gid_t]? {
    var count = 32
    // Two attempts are enough, because the groups of a connected peer don't change.
    for _ in 0..<2 {
      var groups = [gid_t](repeating: 0, count: count)
      let status = cl_peer_groups(descriptor, &groups, &count)
      if status == 0 { return Array(groups.prefix(count)) }
      guard status == -ERANGE else { return nil }
    }
    return nil
  }
}

/// An error for a connection whose peer the kernel can't identify.
struct UnknownPeerError: Error {}
