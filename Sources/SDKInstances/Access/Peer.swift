import Synchronization

/// The process at the other end of a connection, as the kernel and systemd identify it.
public struct Peer: Sendable {
  /// The process that connected. For display only: the number may belong to another process by now.
  public var pid: Int32
  /// The user id.
  public var uid: UInt32
  /// The group id.
  public var gid: UInt32
  /// The ids of the supplementary groups.
  public var groups: [UInt32]
  private let lookup: ProcessLookup

  /// A peer with these credentials.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], process: PeerProcess = PeerProcess()
  ) {
    self.init(pid: pid, uid: uid, gid: gid, groups: groups, ProcessLookup(known: process) { process })
  }

  /// A peer whose process is looked up on first use.
  ///
  /// - Parameter look: looks the process up; returns the same result each time.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32], look: @escaping @Sendable () -> PeerProcess
  ) {
    self.init(pid: pid, uid: uid, gid: gid, groups: groups, ProcessLookup(known: nil, look))
  }

  private init(pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32], _ lookup: ProcessLookup) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.lookup = lookup
  }

  /// The unit and the program of the process. The first access reads `/proc`.
  public var process: PeerProcess { lookup.process }

  /// The unit and the program, if they were looked up before; otherwise `nil`. Never reads `/proc`.
  public var knownProcess: PeerProcess? { lookup.known }
}

/// The process of a peer, and the function that looks it up.
private final class ProcessLookup: Sendable {
  private let look: @Sendable () -> PeerProcess
  private let result: Mutex<PeerProcess?>

  init(known: PeerProcess?, _ look: @escaping @Sendable () -> PeerProcess) {
    self.look = look
    result = Mutex(known)
  }

  var known: PeerProcess? { result.withLock { $0 } }

  var process: PeerProcess {
    if let known { return known }
    // Look up outside the mutex, so that an event loop never waits for `/proc`.
    let process = look()
    result.withLock { $0 = process }
    return process
  }
}

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
