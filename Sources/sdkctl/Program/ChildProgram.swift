import Glibc

/// Another program that is run to its end: what it reads comes from memory, and so does not show in its arguments.
struct ChildProgram {
  /// The exit status, or 128 + the signal.
  let status: Int32
  /// What it printed.
  let output: [UInt8]
  /// What it complained about: the first line.
  let complaint: String

  /// Runs it.
  ///
  /// - Parameters:
  ///   - program: its path, or a name that is looked for in PATH.
  ///   - input: what it reads; at most what a pipe holds, 64 KiB.
  /// - Throws: `CommandFailure` when it can't be started.
  init(_ program: String, _ arguments: [String], input: [UInt8] = []) throws {
    var pipes: [[CInt]] = [[-1, -1], [-1, -1], [-1, -1]]
    defer { for end in pipes.joined() where end >= 0 { close(end) } }
    for index in pipes.indices {
      guard pipe(&pipes[index]) == 0, pipes[index].allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
        throw CommandFailure(message: "There are too many open files.", reason: "program", status: 1)
      }
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipes[0][0], 0)
    posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 1)
    posix_spawn_file_actions_adddup2(&actions, pipes[2][1], 2)
    let argv = ([program] + arguments).map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var pid: pid_t = 0
    let error = posix_spawnp(&pid, program, &actions, nil, argv, environ)
    guard error == 0 else {
      throw CommandFailure(
        message: "\(program) can't be run: \(String(cString: strerror(error))).", reason: "program", status: 1)
    }
    Self.shut(&pipes[0][0])
    Self.shut(&pipes[1][1])
    Self.shut(&pipes[2][1])
    _ = input.withUnsafeBytes { write(pipes[0][1], $0.baseAddress, $0.count) }
    Self.shut(&pipes[0][1])
    (output, complaint) = Self.drain(pipes[1][0], pipes[2][0])
    var raw: Int32 = 0
    while waitpid(pid, &raw, 0) < 0, errno == EINTR {}
    status = raw & 0x7F == 0 ? (raw >> 8) & 0xFF : 128 + (raw & 0x7F)
  }

  private static func shut(_ end: inout CInt) {
    close(end)
    end = -1
  }

  /// Reads both until both have ended, so that neither fills up.
  private static func drain(_ output: CInt, _ errors: CInt) -> ([UInt8], String) {
    var texts: [[UInt8]] = [[], []]
    var open = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
    ]
    var chunk = [UInt8](repeating: 0, count: 16 << 10)
    while open.contains(where: { $0.fd >= 0 }) {
      guard poll(&open, 2, -1) > 0 || errno == EINTR else { break }
      for index in open.indices where open[index].fd >= 0 && open[index].revents != 0 {
        let count = read(open[index].fd, &chunk, chunk.count)
        if count > 0 { texts[index] += chunk[..<count] } else if count == 0 || errno != EINTR { open[index].fd = -1 }
      }
    }
    let line = String(decoding: texts[1], as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    return (texts[0], line)
  }
}

extension ChildProgram {
  /// The daemon's program: beside this one, else wherever PATH has it.
  static var daemon: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    guard length > 0 else { return "sdkd" }
    let path = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = path.lastIndex(of: "/") else { return "sdkd" }
    let beside = path[..<slash] + "/sdkd"
    return access(String(beside), X_OK) == 0 ? String(beside) : "sdkd"
  }
}
