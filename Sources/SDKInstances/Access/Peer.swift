/// Who is at the other end of a connection, as the kernel and systemd say.
public struct Peer: Sendable, Hashable {
  /// A unit of a user's own service manager.
  public struct UserUnit: Sendable, Hashable {
    /// The unit's name.
    public var unit: String
    /// Whose manager it is.
    public var uid: UInt32

    /// A user's unit.
    public init(unit: String, uid: UInt32) {
      self.unit = unit
      self.uid = uid
    }
  }

  /// The process.
  public var pid: Int32
  /// The user.
  public var uid: UInt32
  /// The group.
  public var gid: UInt32
  /// The supplementary groups.
  public var groups: [UInt32]
  /// The system unit, if the process could be pinned and is in one.
  public var unit: String?
  /// The user's unit, likewise.
  public var userUnit: UserUnit?

  /// A peer with these credentials.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], unit: String? = nil, userUnit: UserUnit? = nil
  ) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.unit = unit
    self.userUnit = userUnit
  }
}
