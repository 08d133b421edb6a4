import CLinux
import Glibc

/// The process group of a provider, which its first process leads.
struct ProcessGroup: Sendable {
  /// The number of the group, which is the pid of its leader.
  let id: pid_t

  /// Sends a signal to every process of the group.
  ///
  /// Call it only while the leader is not reaped: until then no other process can get its number. One SIGKILL is
  /// enough, since a process with a pending SIGKILL can't fork.
  func kill(_ signal: Int32 = SIGKILL) { _ = cl_kill_group(id, signal) }

  /// Waits until a killed group, without its leader, has no process left.
  ///
  /// - Returns: false if a process still exists after this time. Only a process stuck in the kernel does.
  func isGone(within patience: Duration) async -> Bool {
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(1)
    while true {
      if cl_kill_group(id, 0) == -ESRCH { return true }
      // If this process is a subreaper, orphans of the group are its children, and count until they are reaped. None of
      // them has the group's number as its pid: that is the leader, or a later provider under the same number.
      for child in ProcessTable().children where child.group == id && child.pid != id && child.state == "Z" {
        if let orphan = AdoptedProcess(child) { _ = orphan.reap() }
      }
      if cl_kill_group(id, 0) == -ESRCH { return true }
      guard ContinuousClock.now < end else { return false }
      await Pause.uncancelled(pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}

/// The fields of a process in `/proc/PID/stat`.
struct ProcessEntry: Sendable, Hashable {
  let pid: pid_t
  /// The state of the process as proc(5) names it, such as `R`, `S` or `Z`.
  let state: Character
  let parent: pid_t
  let group: pid_t
  let session: pid_t
  /// The time at which the process started, in clock ticks since boot.
  let start: UInt64

  /// Parses the line of a file `/proc/PID/stat`. Returns `nil` if it is malformed.
  init?(stat line: String) {
    // The name is in parentheses and may itself hold spaces and parentheses.
    guard let open = line.firstIndex(of: "("), let close = line.lastIndex(of: ")"),
      let pid = pid_t(line[..<open].trimmingSpaces)
    else { return nil }
    let fields = line[line.index(after: close)...].split(separator: " ")
    guard fields.count > 19, fields[0].utf8.count == 1, let state = fields[0].first, let parent = pid_t(fields[1]),
      let group = pid_t(fields[2]), let session = pid_t(fields[3]), let start = UInt64(fields[19])
    else { return nil }
    self.pid = pid
    self.state = state
    self.parent = parent
    self.group = group
    self.session = session
    self.start = start
  }
}

extension Substring {
  fileprivate var trimmingSpaces: Substring { drop { $0 == " " }.prefix { $0 != " " } }
}

/// A child that this process did not start itself, held by a descriptor, so that its pid can't be reused by another
/// process.
struct AdoptedProcess: ~Copyable {
  private let pidfd: Int32

  /// Opens a descriptor of the process. Returns `nil` if the process has ended or is no longer a child.
  init?(_ seen: ProcessEntry) {
    // Open the descriptor first, then compare: the process that is signalled is the one that was compared.
    let descriptor = cl_pidfd_open(seen.pid)
    guard descriptor >= 0 else { return nil }
    guard let now = ProcessTable().entry(of: seen.pid), now.parent == getpid(), now.start == seen.start else {
      close(descriptor)
      return nil
    }
    pidfd = descriptor
  }

  deinit { close(pidfd) }

  /// Kills the process.
  func kill() { _ = cl_pidfd_send_signal(pidfd, SIGKILL) }

  /// Reaps the process if it is dead. Returns whether it was dead.
  func reap() -> Bool {
    let byDescriptor = idtype_t(3)
    var info = siginfo_t()
    // Without a dead child waitid succeeds and leaves the structure as it was.
    return waitid(byDescriptor, id_t(pidfd), &info, WEXITED | WNOHANG) == 0 && info.si_signo == SIGCHLD
  }
}

/// A pause that cancellation doesn't shorten, for cleanup that must complete.
enum Pause {
  /// Waits, even when the task is cancelled.
  static func uncancelled(_ length: Duration) async {
    await Task { try? await Task.sleep(for: length) }.value
  }
}
