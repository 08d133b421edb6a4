import Glibc
import SDKClient

/// `journalctl`, running: gives the journal's entries as JSON, one a line.
final class JournalReader {
  /// Where its lines come from.
  let output: CInt
  private let errors: CInt
  private let pid: pid_t

  /// Starts it.
  ///
  /// - Throws: `CommandFailure` when there is none.
  init(_ arguments: [String]) throws {
    var (out, err): ([CInt], [CInt]) = ([-1, -1], [-1, -1])
    guard Self.makePipe(&out), Self.makePipe(&err) else {
      throw CommandFailure(message: "There are too many open files.", reason: "journal", status: 1)
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, out[1], 1)
    posix_spawn_file_actions_adddup2(&actions, err[1], 2)
    let argv = (["journalctl"] + arguments).map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var pid: pid_t = 0
    let status = posix_spawnp(&pid, "journalctl", &actions, nil, argv, environ)
    close(out[1])
    close(err[1])
    guard status == 0 else {
      close(out[0])
      close(err[0])
      throw CommandFailure(
        message: "journalctl can't be run: \(String(cString: strerror(status))).", reason: "journal", status: 1,
        hints: ["without a journal, read the daemon's log with --file PATH"])
    }
    output = out[0]
    errors = err[0]
    self.pid = pid
  }

  private static func makePipe(_ ends: inout [CInt]) -> Bool {
    guard pipe(&ends) == 0 else { return false }
    return ends.allSatisfy { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
  }

  deinit {
    kill(pid, SIGTERM)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    close(output)
    close(errors)
  }

  /// What it says when its output has ended: its complaint, and whether it failed.
  func end() -> (failed: Bool, complaint: String) {
    var complaint: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while complaint.count < 64 << 10 {
      let count = read(errors, &chunk, chunk.count)
      if count > 0 { complaint += chunk[..<count] } else if count == 0 || errno != EINTR { break }
    }
    var info = siginfo_t()
    // Left to be reaped by `deinit`, so that the number stays its own.
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    let isKilled = info.si_code != CLD_EXITED
    return (isKilled || info._sifields._sigchld.si_status != 0, String(decoding: complaint, as: UTF8.self))
  }
}
