import CLinux
import Glibc

/// A child of this process that it did not start itself, held so that its number can't become another's.
struct AdoptedProcess: ~Copyable {
  private let pidfd: Int32

  /// The process that was seen, if it is still there and still a child.
  init?(_ seen: ProcessEntry) {
    // The descriptor first, then the look whether it is still the same: what is signalled is what was looked at.
    let descriptor = cl_pidfd_open(seen.pid)
    guard descriptor >= 0 else { return nil }
    guard let now = ProcessTable.entry(of: seen.pid), now.parent == getpid(), now.start == seen.start else {
      close(descriptor)
      return nil
    }
    pidfd = descriptor
  }

  deinit { close(pidfd) }

  /// Ends it.
  func kill() { _ = cl_pidfd_send_signal(pidfd, SIGKILL) }

  /// Takes its status, if it is dead.
  func reap() -> Bool {
    let byDescriptor = idtype_t(3)
    var info = siginfo_t()
    // Without a dead child waitid succeeds and leaves the structure as it was.
    return waitid(byDescriptor, id_t(pidfd), &info, WEXITED | WNOHANG) == 0 && info.si_signo == SIGCHLD
  }
}
