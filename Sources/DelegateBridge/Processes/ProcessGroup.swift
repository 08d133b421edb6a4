import CLinux
import Glibc

/// The process group of a provider, which its first process leads.
struct ProcessGroup: Sendable {
  /// The group's number, its leader's pid.
  let id: pid_t

  /// Sends a signal to every process of the group.
  ///
  /// Call it only while the leader is not reaped: until then no other process can get its number. One SIGKILL is
  /// enough, since a process with a pending SIGKILL can't fork.
  func kill(_ signal: Int32 = SIGKILL) { _ = cl_kill_group(id, signal) }

  /// Waits until a killed group, without its leader, has no process left.
  ///
  /// - Returns: false if a process remains after this time, which only one stuck in the kernel does.
  func isGone(within patience: Duration) async -> Bool {
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(1)
    while true {
      if cl_kill_group(id, 0) == -ESRCH { return true }
      // If this process is a subreaper, orphans of the group are its children, and count until they are reaped. None of
      // them has the group's number as its pid: that is the leader, or a later provider under the same number.
      for child in ProcessTable.children where child.group == id && child.pid != id && child.state == "Z" {
        if let orphan = AdoptedProcess(child) { _ = orphan.reap() }
      }
      if cl_kill_group(id, 0) == -ESRCH { return true }
      guard ContinuousClock.now < end else { return false }
      await Pause.uncancelled(pause)
      pause = min(pause * 2, .milliseconds(50))
    }
  }
}
