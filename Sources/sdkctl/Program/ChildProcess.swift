import Glibc

/// A program that runs beside this one: its output and its complaints come through pipes.
final class ChildProcess {
  /// Why there is none.
  struct Failure: Error {
    /// The number of the error.
    let code: Int32
    /// The failure of a program that was ended because it took too long.
    static let late = Failure(code: ETIMEDOUT)
    /// What the system says.
    var description: String { code == ETIMEDOUT ? "it took too long" : String(cString: strerror(code)) }
  }

  /// What one that was run to its end said.
  struct Ended {
    /// The exit status, or 128 + the signal.
    var status: Int32
    /// What it wrote to standard output.
    var bytes: [UInt8]
    /// The same as text.
    var output: String { String(decoding: bytes, as: UTF8.self) }
    /// Its standard error.
    var errors: String
  }

  /// More is not kept of what one is run to its end for.
  private static let limit = 4 << 20

  /// Where its output comes from.
  let output: CInt
  private let errors: CInt
  private let pid: pid_t

  /// Starts it; the first word is looked for on the PATH.
  ///
  /// - Parameter input: what it reads, which so does not show in its arguments; at most what a pipe holds, 64 KiB.
  init(_ words: [String], input: [UInt8] = []) throws(Failure) {
    var (into, out, err): ([CInt], [CInt], [CInt]) = ([-1, -1], [-1, -1], [-1, -1])
    guard Self.makePipe(&into), Self.makePipe(&out), Self.makePipe(&err) else { throw Failure(code: errno) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, into[0], 0)
    posix_spawn_file_actions_adddup2(&actions, out[1], 1)
    posix_spawn_file_actions_adddup2(&actions, err[1], 2)
    let argv = words.map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var pid: pid_t = 0
    let status = posix_spawnp(&pid, words.first ?? "", &actions, nil, argv, environ)
    if status == 0 { _ = input.withUnsafeBytes { write(into[1], $0.baseAddress, $0.count) } }
    for end in into + [out[1], err[1]] { close(end) }
    guard status == 0 else {
      close(out[0])
      close(err[0])
      throw Failure(code: status)
    }
    output = out[0]
    errors = err[0]
    self.pid = pid
  }

  /// How long `poll` may wait; -1 for ever.
  private func milliseconds(until deadline: ContinuousClock.Instant?) throws(Failure) -> CInt {
    guard let deadline else { return -1 }
    let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
    guard left > 0 else {
      kill(pid, SIGKILL)
      throw .late
    }
    return CInt(min(left.rounded(.up), 3_600_000))
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

  /// Runs one to its end.
  ///
  /// - Parameter deadline: when it is killed.
  /// - Throws: `Failure.late` when it was killed.
  static func run(_ words: [String], until deadline: ContinuousClock.Instant? = nil) throws(Failure) -> Ended {
    try ChildProcess(words).end(until: deadline)
  }

  /// Reads what it still says, on both sides as it comes, and waits for its end.
  ///
  /// - Throws: `Failure.late` when it has not ended at the deadline; then it is killed.
  func end(until deadline: ContinuousClock.Instant? = nil) throws(Failure) -> Ended {
    var said: [CInt: [UInt8]] = [output: [], errors: []]
    var open = [output, errors]
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while !open.isEmpty {
      var waiting = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&waiting, nfds_t(waiting.count), try milliseconds(until: deadline)) > 0 else { continue }
      for descriptor in waiting.filter({ $0.revents != 0 }).map(\.fd) {
        let count = read(descriptor, &chunk, chunk.count)
        if count > 0 {
          if said[descriptor, default: []].count < Self.limit { said[descriptor, default: []] += chunk[..<count] }
        } else if count == 0 || errno != EINTR {
          open.removeAll { $0 == descriptor }
        }
      }
    }
    var info = siginfo_t()
    // Left to be reaped by `deinit`, so that the number stays its own.
    let mode = WEXITED | WNOWAIT
    while deadline != nil, waitid(P_PID, id_t(pid), &info, mode | WNOHANG) == 0, info.si_signo == 0 {
      // It has closed its output and runs on.
      poll(nil, 0, min(10, try milliseconds(until: deadline)))
    }
    while waitid(P_PID, id_t(pid), &info, mode) < 0, errno == EINTR {}
    let code = info._sifields._sigchld.si_status
    return Ended(
      status: info.si_code == CLD_EXITED ? code : 128 + code, bytes: said[output] ?? [],
      errors: String(decoding: said[errors] ?? [], as: UTF8.self))
  }
}
