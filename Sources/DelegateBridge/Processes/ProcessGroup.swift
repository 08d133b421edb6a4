import CLinux
import Glibc

/// The process group of a provider, which its first process leads.
struct ProcessGroup: Sendable {
  /// The group's number, its leader's pid.
  let id: pid_t

  /// Ends every process of the group.
  ///
  /// Only to be called while the leader is not reaped: until then the number is nobody else's. One call is enough, as a
  /// process with a pending SIGKILL can't fork.
  func kill(_ signal: Int32 = SIGKILL) { _ = cl_kill_group(id, signal) }

  /// Waits until the group, killed and without its leader, has no process left.
  ///
  /// - Returns: false if something is still there after the patience, which only a process stuck in the kernel is.
  func isGone(within patience: Duration) async -> Bool {
    let end = ContinuousClock.now + patience
    var pause = Duration.milliseconds(1)
    while true {
      if cl_kill_group(id, 0) == -ESRCH { return true }
      // Orphans of the group are this process's children, if it is a subreaper, and count until they are reaped. None
      // of them has the group's number as its pid: that is the leader, or a later provider under the same number.
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
