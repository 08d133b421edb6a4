/// The facts about a peer's process beyond the kernel's credentials.
public struct PeerProcess: Sendable, Hashable {
  /// A unit of a user's own service manager.
  public struct UserUnit: Sendable, Hashable {
    /// The unit's name.
    public var unit: String
    /// The uid of the user whose manager runs the unit.
    public var uid: UInt32

    /// A user's unit.
    public init(unit: String, uid: UInt32) {
      self.unit = unit
      self.uid = uid
    }
  }

  /// The system unit, if the process could be pinned and is in one.
  public var unit: String?
  /// The user's unit, if the process could be pinned and is in one.
  public var userUnit: UserUnit?
  /// The path of its program, if the daemon may read it. For audit only: callers choose the names of their programs.
  public var executable: String?

  /// A process, by default without known facts.
  public init(unit: String? = nil, userUnit: UserUnit? = nil, executable: String? = nil) {
    self.unit = unit
    self.userUnit = userUnit
    self.executable = executable
  }
}
