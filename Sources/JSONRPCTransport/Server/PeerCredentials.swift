internal import CLinux
internal import Glibc

/// Who is at the other end of a socket, as the kernel noted when it connected.
public struct PeerCredentials: Sendable {
  /// The process; 0 for one of another pid namespace.
  public let pid: Int32
  /// Its effective user.
  public let uid: UInt32
  /// Its effective group.
  public let gid: UInt32
  /// Its supplementary groups.
  public let groups: [UInt32]
  /// The process itself, for what its number alone can't answer; `nil` when it has ended or can't be pinned.
  public let process: PinnedProcess?

  /// Credentials made up by a test.
  public init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], process: PinnedProcess? = nil) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.process = process
  }

  /// The credentials of the peer of a connected unix socket; `nil` if it is none.
  ///
  /// - Parameter pins: whether its process is to be told from later ones of the same number.
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
  }

  private static func groups(of descriptor: CInt) -> [gid_t]? {
    var count = 32
    // Twice is enough: the groups of a connected peer don't change.
    for _ in 0..<2 {
      var groups = [gid_t](repeating: 0, count: count)
      let status = cl_peer_groups(descriptor, &groups, &count)
      if status == 0 { return Array(groups.prefix(count)) }
      guard status == -ERANGE else { return nil }
    }
    return nil
  }
}
