import Glibc
import Linux

/// A child process whose standard output and standard error come through pipes.
final class ChildProcess {
  /// The reason why a process could not be started, or was killed.
  struct Failure: Error {
    /// The error number (`errno`).
    let code: Int32
    /// The failure of a process that was killed at its deadline.
    static let late = Failure(code: ETIMEDOUT)
    /// The system's message for the code.
    var description: String { code == ETIMEDOUT ? "it took too long" : SystemCallError.text(of: code) }
  }

  /// The result of a process that has ended.
  struct Ended {
    /// The exit status, or 128 + the signal.
    var status: Int32
    /// The bytes of its standard output.
    var bytes: [UInt8]
    /// The text of its standard output.
    var output: String { String(decoding: bytes, as: UTF8.self) }
    /// The text of its standard error.
    var errors: String
  }

  /// The size in bytes from which further output of a process is discarded, for each of its outputs.
  private static let limit = 4 << 20

  /// The descriptor of its standard output.
  let output: CInt
  private let errors: CInt
  private let pid: pid_t

  /// Starts a program; the first word is looked up in PATH.
  ///
  /// - Parameter input: its standard input, which unlike arguments is not visible to others; at most 64 KiB, the
  ///   capacity of a pipe.
  init(_ words: [String], input: [UInt8] = []) throws(Failure) {
    var (into, out, err): ([CInt], [CInt], [CInt]) = ([-1, -1], [-1, -1], [-1, -1])
    guard Self.makePipe(&into), Self.makePipe(&out), Self.makePipe(&err) else { throw Failure(code: errno) }
    let streams = ProgramStart.Streams(input: into[0], output: out[1], error: err[1])
    let started = Result { () throws(SystemCallError) in
      try ProgramStart.spawn(words, streams: streams, signals: .asStarted)
    }
    if case .success = started { _ = input.withUnsafeBytes { write(into[1], $0.baseAddress, $0.count) } }
    for end in into + [out[1], err[1]] { close(end) }
    switch started {
    case .success(let pid): self.pid = pid
    case .failure(let error):
      close(out[0])
      close(err[0])
      throw Failure(code: error.errorNumber)
    }
    output = out[0]
    errors = err[0]
  }

  /// Returns the timeout for `poll` in milliseconds, -1 for none. Past the deadline it kills the process and throws.
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

  /// Runs a program to its end.
  ///
  /// - Parameter deadline: the time at which it is killed.
  /// - Throws: `Failure`, which is `Failure.late` when it was killed.
  static func run(_ words: [String], until deadline: ContinuousClock.Instant? = nil) throws(Failure) -> Ended {
    try ChildProcess(words).end(until: deadline)
  }

  /// Reads both outputs to their ends, and waits for the end of the process.
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
    // `deinit` reaps the process; until then its pid is not reused.
    let mode = WEXITED | WNOWAIT
    while deadline != nil, waitid(P_PID, id_t(pid), &info, mode | WNOHANG) == 0, info.si_signo == 0 {
      // The process has closed its outputs but still runs.
      poll(nil, 0, min(10, try milliseconds(until: deadline)))
    }
    while waitid(P_PID, id_t(pid), &info, mode) < 0, errno == EINTR {}
    let code = info._sifields._sigchld.si_status
    return Ended(
      status: info.si_code == CLD_EXITED ? code : 128 + code, bytes: said[output] ?? [],
      errors: String(decoding: said[errors] ?? [], as: UTF8.self))
  }
}
