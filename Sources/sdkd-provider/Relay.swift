import CLinux
import Glibc
import ProviderUnit

/// A relay between the daemon's connection and a program. It ends the program when the daemon closes the connection.
struct Relay {
  private let program: RunningProgram
  private var input: Int32
  private var output: Int32
  private var pending: ArraySlice<UInt8>
  private var chunk = [UInt8](repeating: 0, count: 16_384)
  /// The time of SIGKILL for a program that received SIGTERM; `nil` while the daemon waits.
  private var killAt: ContinuousClock.Instant?
  private var isForgotten = false

  /// The time between SIGTERM and SIGKILL.
  private static let grace = Duration.seconds(2)

  init(program: RunningProgram, input question: [UInt8]) {
    self.program = program
    input = program.input
    output = program.output
    pending = question[...]
  }

  /// Relays input and output until the program has died, and kills its group.
  ///
  /// - Returns: the program's exit status; `nil` if the daemon no longer waits for it.
  mutating func run() -> ProviderStatus? {
    _ = cl_set_nonblocking(input, 1)
    _ = cl_set_nonblocking(output, 1)
    // If started by hand, with a pipe or a terminal as standard input, its end says nothing about the reader of the
    // output.
    let connection: Int32 = Self.isSocket(STDIN_FILENO) ? STDIN_FILENO : -1
    while true {
      var polled = [
        pollfd(fd: program.pidfd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input, events: Int16(POLLOUT), revents: 0),
        pollfd(fd: output, events: Int16(POLLIN), revents: 0),
        // No events are requested: POLLHUP means that the daemon has closed the connection, not only finished writing.
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
    // The program is not reaped yet, so its process id can't belong to another process.
    program.kill(SIGKILL)
    // Its last output is still in the pipe, at most a mebibyte. Processes that left the group and still write are
    // ignored.
    for _ in 0..<64 { guard handOn() else { break } }
    let status = reap()
    return isForgotten ? nil : status
  }

  private var timeout: Int32 {
    guard let killAt else { return -1 }
    let left = (ContinuousClock.now.duration(to: killAt) / .milliseconds(1)).rounded(.up)
    // After SIGKILL the signal is repeated until the program has died: a process that was just forked may have missed
    // it.
    return Int32(min(max(left, 50), 10_000))
  }

  /// Sends SIGTERM to the program, since the daemon no longer waits for its output.
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
    // The program may close its input before it has read everything.
    if count < 0 || pending.isEmpty {
      close(input)
      input = -1
    }
  }

  /// Forwards the available output to the daemon. Returns `false` if there is none at present, or no more.
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
