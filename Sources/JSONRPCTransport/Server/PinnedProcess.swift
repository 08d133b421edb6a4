internal import CLinux
internal import Glibc
internal import Linux
internal import Synchronization

/// The process at the other end of a socket, pinned so that a later process with the same number is never taken for it.
///
/// The number that the kernel records at connect may belong to another process by the time it is used. From Linux 6.5
/// on, the kernel provides a descriptor of the process that connected.
///
/// Before that, the process is identified by its start time. It is read when the connection is accepted, and compared
/// before and after each use of the number. The number may have been reused even earlier, so the process's user and
/// group must be those of the peer.
public final class PinnedProcess: Sendable {
  private enum State {
    case descriptor(Int32)
    case stamp(ProcessStamp)
    /// The value that `look` returned. It is final, so the descriptor is closed.
    case seen(any Sendable)
    case gone
  }

  private let pid: Int32
  private let state: Mutex<State>

  /// Makes a process that was seen before, perhaps by another process: `once` returns `value`.
  public init(pid: Int32, seen value: any Sendable) {
    self.pid = pid
    state = Mutex(.seen(value))
  }

  /// Makes a process that another process has pinned by its start time, in clock ticks since boot.
  init(pid: Int32, uid: UInt32, gid: UInt32, start: UInt64) {
    self.pid = pid
    state = Mutex(.stamp(ProcessStamp(start: start, uid: uid, gid: gid)))
  }

  /// Pins the peer of a connected unix socket. Returns `nil` if the peer has ended or can't be pinned.
  convenience init?(socket: Int32, pid: Int32, uid: UInt32, gid: UInt32) {
    self.init(pid: pid, uid: uid, gid: gid, descriptor: cl_peer_pidfd(socket))
  }

  /// Pins a process by its descriptor, or by its start time if there is none. Returns `nil` if the process has ended,
  /// is not visible in `/proc`, or has another user or group than the peer.
  ///
  /// - Parameter descriptor: a pidfd of the process, or `-errno`.
  init?(pid: Int32, uid: UInt32, gid: UInt32, descriptor: Int32) {
    // 0 is a process of another pid namespace, whose number denotes a different process here.
    guard pid > 0 else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    self.pid = pid
    if descriptor >= 0 {
      state = Mutex(.descriptor(descriptor))
      return
    }
    // Other errors, such as too many open files, fall back to the start time: the client must still be served.
    guard descriptor != -ESRCH, descriptor != -EINVAL, let stamp = ProcessStamp(of: pid), stamp.uid == uid,
      stamp.gid == gid
    else { return nil }
    state = Mutex(.stamp(stamp))
  }

  /// Whether `once` returns the same value from now on, without a look at the process.
  public var isSeen: Bool {
    state.withLock { state in
      switch state {
      case .seen, .gone: true
      case .descriptor, .stamp: false
      }
    }
  }

  /// Returns the value that `once` returns from now on; `nil` if that is not known, or while it looks. Never waits.
  public func seen<Value: Sendable>(as type: Value.Type) -> Value? {
    let seen = state.withLockIfAvailable { state -> Value? in
      if case .seen(let value) = state { value as? Value } else { nil }
    }
    return seen ?? nil
  }

  /// The start time by which the process is pinned; `nil` if it is pinned otherwise or was seen.
  var start: UInt64? { state.withLock { if case .stamp(let stamp) = $0 { stamp.start } else { nil } } }

  /// The descriptor of the process, while it is open.
  var descriptor: Int32? { state.withLock { if case .descriptor(let descriptor) = $0 { descriptor } else { nil } } }

  deinit { state.withLock { if case .descriptor(let descriptor) = $0 { close(descriptor) } } }

  /// Calls `look` with the process's number and returns its result; `nil` if the process ended before `look` returned.
  ///
  /// `look` runs once, and later calls return the same value. A process thus stays in the unit in which it was first
  /// seen, as with the kernel's credentials.
  public func once<Value: Sendable>(_ look: (_ pid: Int32) -> Value) -> Value? {
    state.withLock { state in
      if case .seen(let known) = state { return known as? Value }
      guard isAlive(state) else { return leave(&state) }
      let value = look(pid)
      guard isAlive(state) else { return leave(&state) }
      letGo(state)
      state = .seen(value)
      return value
    }
  }

  private func leave<Value>(_ state: inout State) -> Value? {
    letGo(state)
    state = .gone
    return nil
  }

  private func letGo(_ state: State) {
    if case .descriptor(let descriptor) = state { close(descriptor) }
  }

  private func isAlive(_ state: State) -> Bool {
    switch state {
    case .descriptor(let descriptor):
      // A pidfd is readable when the process has ended, reaped or not. A test by signal would need the permission to
      // send one.
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&poller, 1, 0) == 0
    case .stamp(let stamp): return ProcessStamp(of: pid) == stamp
    case .seen, .gone: return false
    }
  }
}

/// The values in `/proc` that distinguish a process from a later one with the same number.
struct ProcessStamp: Sendable, Hashable {
  /// The start time, in clock ticks since boot.
  let start: UInt64
  /// The effective user ID.
  let uid: UInt32
  /// The effective group ID.
  let gid: UInt32
}

extension ProcessStamp {
  /// Reads the start time and the effective ids of a living process from `/proc`. Returns `nil` if there is no process
  /// with this number, it has ended, or `/proc` does not show it.
  init?(of pid: Int32) {
    guard let stat = Self.read("/proc/\(pid)/stat"), let status = Self.read("/proc/\(pid)/status") else { return nil }
    self.init(stat: stat, status: status)
  }

  /// Parses the contents of the two files. Returns `nil` if they are invalid, or the process has ended and waits to be
  /// reaped.
  init?(stat: String, status: String) {
    // The name is in parentheses and may itself contain spaces and parentheses.
    guard let close = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: close)...].split(whereSeparator: \.isWhitespace)
    // The state is one letter.
    guard fields.count > 19, fields[0].utf8.count == 1, !["Z", "X", "x"].contains(fields[0]),
      let start = UInt64(fields[19]), let uid = Self.effective("Uid:", in: status),
      let gid = Self.effective("Gid:", in: status)
    else { return nil }
    self.start = start
    self.uid = uid
    self.gid = gid
  }

  /// Returns the effective ID, which is the second of the four numbers on the line `name`.
  private static func effective(_ name: String, in status: String) -> UInt32? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
    let numbers = line.split(whereSeparator: \.isWhitespace)
    return numbers.count > 2 ? UInt32(numbers[2]) : nil
  }

  /// Returns the first 8 KiB of a file, which hold all fields that are read here; `nil` on failure.
  private static func read(_ path: String) -> String? { BoundedFile.text(at: path, limit: 8192) }
}
