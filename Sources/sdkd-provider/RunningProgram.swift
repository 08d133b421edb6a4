import CLinux
import Glibc
import Linux

/// The provider's program, in its own session and process group, with pipes as input and output.
struct RunningProgram {
  /// The process id, which is also the id of its process group.
  let pid: pid_t
  /// The descriptor for writing the program's input.
  let input: Int32
  /// The descriptor for reading the program's output.
  let output: Int32
  /// A pid descriptor, which is readable when the program has died.
  let pidfd: Int32

  /// Starts the program with this process's environment and these variables.
  ///
  /// It does not inherit `NOTIFY_SOCKET` and variables whose names begin with `SDKD_`, `LISTEN_` or `WATCHDOG_`.
  init(_ arguments: [String], variables: [String: String]) throws(SpawnFailure) {
    let (inputEnd, input) = try Self.pipe()
    let (output, outputEnd) = try Self.pipe()
    let streams = ProgramStart.Streams(input: inputEnd, output: outputEnd)
    let started = Result { () throws(SystemCallError) in
      try ProgramStart.spawn(
        arguments, environment: Self.environment(variables), streams: streams, signals: .none, newSession: true)
    }
    close(inputEnd)
    close(outputEnd)
    let pid: pid_t
    switch started {
    case .success(let child): pid = child
    case .failure(let error): throw SpawnFailure(code: error.errorNumber)
    }
    let pidfd = cl_pidfd_open(pid)
    guard pidfd >= 0 else {
      _ = cl_kill_group(pid, SIGKILL)
      throw SpawnFailure(code: -pidfd)
    }
    self.pid = pid
    self.input = input
    self.output = output
    self.pidfd = pidfd
  }

  /// Sends a signal to the program and its whole group.
  func kill(_ signal: Int32) { _ = cl_kill_group(pid, signal) }

  private static func pipe() throws(SpawnFailure) -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SpawnFailure(code: errno) }
    for end in ends { _ = cl_set_cloexec(end) }
    return (ends[0], ends[1])
  }

  private static func environment(_ variables: [String: String]) -> [String] {
    var all: [String] = []
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      let name = String(text.prefix { $0 != "=" })
      let isOwn = ["SDKD_", "LISTEN_", "WATCHDOG_"].contains { name.hasPrefix($0) } || name == "NOTIFY_SOCKET"
      if !isOwn { all.append(text) }
      next += 1
    }
    return all + variables.map { "\($0.key)=\($0.value)" }
  }
}

/// An error in starting a program.
struct SpawnFailure: Error {
  /// The error number.
  let code: Int32

  /// The exit status that shells use for this error: 127 if the program was not found, else 126.
  var status: Int32 { code == ENOENT || code == ENOTDIR ? 127 : 126 }
}
