import CLinux
import Glibc

/// A child that this process did not start itself, held by a descriptor, so that its pid can't be reused by another
/// process.
struct AdoptedProcess: ~Copyable {
  private let pidfd: Int32

  /// Opens the process; fails if it has ended or is no longer a child.
  init?(_ seen: ProcessEntry) {
    // Open the descriptor first, then compare: the process that is signalled is the one that was compared.
    let descriptor = cl_pidfd_open(seen.pid)
    guard descriptor >= 0 else { return nil }
    guard let now = ProcessTable.entry(of: seen.pid), now.parent == getpid(), now.start == seen.start else {
      close(descriptor)
      return nil
    }
    pidfd = descriptor
  }

  deinit { close(pidfd) }

  /// Kills the process.
  func kill() { _ = cl_pidfd_send_signal(pidfd, SIGKILL) }

  /// Reaps the process if it is dead. Returns whether it was.
  func reap() -> Bool {
    let byDescriptor = idtype_t(3)
    var info = siginfo_t()
    // Without a dead child waitid succeeds and leaves the structure as it was.
    return waitid(byDescriptor, id_t(pidfd), &info, WEXITED | WNOHANG) == 0 && info.si_signo == SIGCHLD
  }
}
