/// What is known of a peer's process beyond the kernel's credentials.
public struct PeerProcess: Sendable, Hashable {
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

  /// The system unit, if the process could be pinned and is in one.
  public var unit: String?
  /// The user's unit, likewise.
  public var userUnit: UserUnit?
  /// The path of its program, where the daemon may read it. For audit only: whoever runs a program can choose its name.
  public var executable: String?

  /// A process; with nothing known of it by default.
  public init(unit: String? = nil, userUnit: UserUnit? = nil, executable: String? = nil) {
    self.unit = unit
    self.userUnit = userUnit
    self.executable = executable
  }
}
