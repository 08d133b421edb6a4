import Glibc

/// A process that sleeps for 600 s or until it is killed.
final class Sleeper {
  let pid: pid_t
  private var isReaped = false

  init() throws {
    var pid: pid_t = 0
    let argv: [UnsafeMutablePointer<CChar>?] = [strdup("sleep"), strdup("600"), nil]
    defer { for text in argv { free(text) } }
    let error = posix_spawn(&pid, "/bin/sleep", nil, nil, argv, [nil])
    guard error == 0 else { throw Failure(errorNumber: error) }
    self.pid = pid
  }

  deinit { reap() }

  struct Failure: Error { let errorNumber: Int32 }

  /// Kills the process and leaves it unreaped.
  func end() {
    kill(pid, SIGKILL)
    var information = siginfo_t()
    _ = waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT)
  }

  /// Kills and reaps the process, which frees its process ID.
  func reap() {
    guard !isReaped else { return }
    isReaped = true
    kill(pid, SIGKILL)
    _ = waitpid(pid, nil, 0)
  }

  /// Starts a process with the ID of one that has ended. Returns `nil` where the kernel does not allow the choice, or
  /// where another process or thread has the ID.
  static func reusing(_ pid: pid_t) throws -> Sleeper? {
    for _ in 0..<50 {
      let file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      let text = Array("\(pid - 1)".utf8)
      let written = write(file, text, text.count)
      close(file)
      guard written == text.count else { return nil }
      let next = try Sleeper()
      if next.pid == pid { return next }
    }
    return nil
  }
}
