/// Who is at the other end of a connection, as the kernel and systemd say.
public struct Peer: Sendable {
  /// The process that connected. Only for showing: the number may belong to another process by now.
  public var pid: Int32
  /// The user.
  public var uid: UInt32
  /// The group.
  public var gid: UInt32
  /// The supplementary groups.
  public var groups: [UInt32]
  private let look: @Sendable () -> PeerProcess

  /// A peer with these credentials.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], process: PeerProcess = PeerProcess()
  ) {
    self.init(pid: pid, uid: uid, gid: gid, groups: groups) { process }
  }

  /// A peer whose process is looked at when it is first asked about.
  ///
  /// - Parameter look: gives the same answer each time.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32], look: @escaping @Sendable () -> PeerProcess
  ) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.look = look
  }

  /// Its process: the unit and the program. Reads `/proc` the first time.
  public var process: PeerProcess { look() }
}
