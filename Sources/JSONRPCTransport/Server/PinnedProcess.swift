internal import CLinux
internal import Glibc
internal import Synchronization

/// The process at the other end of a socket, held so that a later one that gets its number is never taken for it.
///
/// The number that the kernel notes when a socket is connected may be another process's by the time anybody looks. From
/// Linux 6.5 on the kernel gives a descriptor of the very process that connected. Before that the process is known by
/// when it started, read as soon as the connection is accepted and compared around every look; since its number may have
/// been used again even before that, its user and group must be those with which the peer connected.
public final class PinnedProcess: Sendable {
  private enum State {
    case descriptor(Int32)
    case stamp(ProcessStamp)
    /// Nobody asks twice: what was seen stays, and the descriptor is free.
    case seen(any Sendable)
    case gone
  }

  private let pid: Int32
  private let state: Mutex<State>

  /// Pins the peer of a connected unix socket; `nil` when it has ended or can't be pinned.
  convenience init?(socket: Int32, pid: Int32, uid: UInt32, gid: UInt32) {
    self.init(pid: pid, uid: uid, gid: gid, descriptor: cl_peer_pidfd(socket))
  }

  /// - Parameter descriptor: of the process, or `-errno`.
  init?(pid: Int32, uid: UInt32, gid: UInt32, descriptor: Int32) {
    // 0 stands for a process of another pid namespace, whose number means somebody else here.
    guard pid > 0 else {
      if descriptor >= 0 { close(descriptor) }
      return nil
    }
    self.pid = pid
    if descriptor >= 0 {
      state = Mutex(.descriptor(descriptor))
      return
    }
    // Also with too many open files: the peer is a client, and is served.
    guard descriptor != -ESRCH, descriptor != -EINVAL, let stamp = ProcessStamp(of: pid), stamp.uid == uid,
      stamp.gid == gid
    else { return nil }
    state = Mutex(.stamp(stamp))
  }

  deinit { state.withLock { if case .descriptor(let descriptor) = $0 { close(descriptor) } } }

  /// What `look` finds out by the process's number; `nil` when the process had ended before `look` was done. Looks once
  /// and gives the same answer from then on: whoever was in a unit when it was first asked about stays in it until the
  /// connection ends, as with the kernel's credentials.
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
      // Readable when the process has ended, reaped or not. A signal would need the right to send one.
      var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&poller, 1, 0) == 0
    case .stamp(let stamp): return ProcessStamp(of: pid) == stamp
    case .seen, .gone: return false
    }
  }
}
