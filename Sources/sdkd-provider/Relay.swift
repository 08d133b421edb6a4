import CLinux
import Glibc
import ProviderUnit

/// Feeds the program, hands its output on, and ends it when the daemon closes the connection.
struct Relay {
  private let program: RunningProgram
  private var input: Int32
  private var output: Int32
  private var pending: ArraySlice<UInt8>
  private var chunk = [UInt8](repeating: 0, count: 16_384)
  /// When a program that was told to end is killed; `nil` while the daemon waits.
  private var killAt: ContinuousClock.Instant?
  private var isForgotten = false

  /// How long a program has between SIGTERM and SIGKILL.
  private static let grace = Duration.seconds(2)

  init(program: RunningProgram, input question: [UInt8]) {
    self.program = program
    input = program.input
    output = program.output
    pending = question[...]
  }

  /// Until the program has died and its group is killed.
  ///
  /// - Returns: how it ended; `nil` when nobody waits for that any longer.
  mutating func run() -> ProviderStatus? {
    _ = cl_set_nonblocking(input, 1)
    _ = cl_set_nonblocking(output, 1)
    // By hand, with a pipe or a terminal as standard input, its end says nothing about who reads the output.
    let connection: Int32 = Self.isSocket(STDIN_FILENO) ? STDIN_FILENO : -1
    while true {
      var polled = [
        pollfd(fd: program.pidfd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        // Without events: POLLHUP comes when the daemon has closed the connection, not when it only wrote its last.
        pollfd(fd: isForgotten ? -1 : connection, events: 0, revents: 0),
      ]
      let count = poll(&polled, nfds_t(polled.count), timeout)
      if let killAt, ContinuousClock.now >= killAt { program.kill(SIGKILL) }
      guard count > 0 else { continue }
      if polled[3].revents != 0 { forget() }
      if polled[1].revents != 0 { feed() }
      if polled[2].revents != 0 { _ = handOn() }
      if polled[0].revents != 0 { break }
    }
    // Before it is reaped, so that the number is still nobody else's.
    program.kill(SIGKILL)
    // What it wrote before is in the pipe, at most a mebibyte. Who left the group and still writes is not waited for.
    for _ in 0..<64 { guard handOn() else { break } }
    let status = reap()
    return isForgotten ? nil : status
  }

  private var timeout: Int32 {
    guard let killAt else { return -1 }
    let left = (ContinuousClock.now.duration(to: killAt) / .milliseconds(1)).rounded(.up)
    // Once it is killed only its death is waited for, but a signal may have been lost to a program that just forked.
    return Int32(min(max(left, 50), 10_000))
  }

  /// Nobody waits for the answer any longer.
  private mutating func forget() {
    guard !isForgotten else { return }
    isForgotten = true
    killAt = .now + Self.grace
    program.kill(SIGTERM)
  }

  private mutating func feed() {
    let count = pending.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
    if count > 0 { pending = pending.dropFirst(count) }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    // It need not read.
    if count < 0 || pending.isEmpty {
      close(input)
      input = -1
    }
  }

  /// Hands on what is there of the output; false when there is nothing now.
  private mutating func handOn() -> Bool {
    guard output >= 0 else { return false }
    let count = read(output, &chunk, chunk.count)
    if count < 0, errno == EAGAIN || errno == EINTR { return false }
    guard count > 0 else {
      close(output)
      output = -1
      return false
    }
    if !isForgotten, !Wrapper.write(chunk[..<count], to: STDOUT_FILENO) { forget() }
    return true
  }

  private func reap() -> ProviderStatus {
    var raw: Int32 = 0
    while waitpid(program.pid, &raw, 0) < 0, errno == EINTR {}
    return raw & 0x7F == 0 ? .exited((raw >> 8) & 0xFF) : .signalled(raw & 0x7F)
  }

  private static func isSocket(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }
}
