internal import CLinux
internal import Glibc
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

  /// Pins the peer of a connected unix socket. Returns `nil` if the peer has ended or can't be pinned.
  convenience init?(socket: Int32, pid: Int32, uid: UInt32, gid: UInt32) {
    self.init(pid: pid, uid: uid, gid: gid, descriptor: cl_peer_pidfd(socket))
  }

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

  deinit { state.withLock { if case .descriptor(let descriptor) = $0 { close(descriptor) } } }

  /// Returns what `look` finds out by the process's number; `nil` if the process ended before `look` was done.
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
