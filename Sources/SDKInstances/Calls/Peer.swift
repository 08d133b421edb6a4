import Synchronization

/// The process at the other end of a connection, as the kernel and systemd identify it.
public final class Peer: Sendable {
  /// The pid of the process that connected. For display only: it may belong to another process by now.
  public let pid: Int32
  /// The user id.
  public let uid: UInt32
  /// The group id.
  public let gid: UInt32
  /// The ids of the supplementary groups.
  public let groups: [UInt32]
  /// The user against whose quotas the peer counts, when it connected: its uid, or the owner of its subordinate uid.
  /// Rights never follow from this.
  public let user: UInt32
  private let look: @Sendable () -> PeerProcess
  private let known: Mutex<PeerProcess?>
  /// The credential that the peer got last, for the audit.
  let lastCredential = Mutex<AuditTally.Credential?>(nil)

  /// Creates a peer with these credentials.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32] = [], user: UInt32? = nil,
    process: PeerProcess = PeerProcess()
  ) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.user = user ?? uid
    look = { process }
    known = Mutex(process)
  }

  /// Creates a peer whose process is looked up on first use.
  ///
  /// - Parameters:
  ///   - user: the user against whose quotas the peer counts; `nil` for its uid.
  ///   - look: looks the process up. It must return the same result each time.
  public init(
    pid: Int32, uid: UInt32, gid: UInt32, groups: [UInt32], user: UInt32? = nil,
    look: @escaping @Sendable () -> PeerProcess
  ) {
    self.pid = pid
    self.uid = uid
    self.gid = gid
    self.groups = groups
    self.user = user ?? uid
    self.look = look
    known = Mutex(nil)
  }

  /// The unit and the program of the process. The first access reads `/proc`.
  public var process: PeerProcess {
    if let process = knownProcess { return process }
    // Look up outside the mutex, so that an event loop never waits for `/proc`.
    let process = look()
    known.withLock { $0 = process }
    return process
  }

  /// The unit and the program, if they were looked up before; otherwise `nil`. Never reads `/proc`.
  public var knownProcess: PeerProcess? { known.withLock { $0 } }

  /// Whether the process was looked up before.
  var knowsProcess: Bool {
    // Not `!=`, which would copy the process.
    known.withLock { if case .some = $0 { true } else { false } }
  }
}

/// The data about a peer's process that the socket's credentials don't contain.
public struct PeerProcess: Sendable, Hashable {
  /// A unit of a user's own service manager.
  public struct UserUnit: Sendable, Hashable {
    /// The unit's name.
    public var unit: String
    /// The uid of the user whose manager runs the unit.
    public var uid: UInt32

    /// Creates a user's unit.
    public init(unit: String, uid: UInt32) {
      self.unit = unit
      self.uid = uid
    }
  }

  /// The system unit of the process; `nil` if it is in none, or if the daemon could not make sure that the pid still
  /// belongs to the peer.
  public var unit: String?
  /// The unit of a user's service manager; `nil` if the process is in none, or if the daemon could not make sure that
  /// the pid still belongs to the peer.
  public var userUnit: UserUnit?
  /// The path of the process's program; `nil` if the daemon may not read it. For audit only, because callers choose the
  /// names of their programs.
  public var executable: String?

  /// Creates a process, by default without known facts.
  public init(unit: String? = nil, userUnit: UserUnit? = nil, executable: String? = nil) {
    self.unit = unit
    self.userUnit = userUnit
    self.executable = executable
  }
}

extension PeerProcess.UserUnit {
  /// The id of the application that a desktop has started in a scope; `nil` for any other unit.
  ///
  /// The names are those that systemd proposes to desktops (systemd.io, "Desktop Environment Integration"):
  /// `app[-LAUNCHER]-APPLICATION-RANDOM.scope`. Hyphens within a part are `\x2d`, as systemd-escape(1) writes them. GNOME,
  /// KDE and Flatpak follow this. Any program of the user can name a scope like this.
  public var application: String? {
    guard unit.hasPrefix("app-"), unit.hasSuffix(".scope") else { return nil }
    let parts = unit.dropFirst("app-".count).dropLast(".scope".count)
      .split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3, !parts.contains("") else { return nil }
    return Self.unescaped(parts[parts.count - 2])
  }

  /// Returns a text without the escapes of systemd-escape(1); `nil` if one is wrong, or if the result is not UTF-8.
  private static func unescaped(_ text: Substring) -> String? {
    var (bytes, rest) = ([UInt8](), text.utf8[...])
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      // A sign would be accepted as a part of the number.
      let digits = rest.dropFirst().prefix(2)
      guard rest.first == UInt8(ascii: "x"), digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") }),
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(3)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
