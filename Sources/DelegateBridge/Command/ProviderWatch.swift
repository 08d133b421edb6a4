import CLinux
import Glibc
import Linux

/// A blocking loop that feeds, reads and ends a running provider, on a thread of its own.
///
/// It returns when the provider's first process is dead and its group is killed. That process is not reaped yet, so its
/// number can't have been reused.
struct ProviderWatch {
  /// The output of a provider that has ended, and the reason if the daemon ended it.
  struct Report: Sendable {
    var output: [UInt8] = []
    /// The reason why the daemon ended the provider; `nil` when the provider ended by itself.
    var interference: ProviderEnding?
  }

  /// The stack of a run's thread, in bytes.
  static let stackSize = 512 << 10
  /// The time between SIGTERM and SIGKILL.
  static let grace = Duration.seconds(2)

  private let group: ProcessGroup
  private let pidfd: Int32
  private let limit: Int
  private let onLine: (String) -> Void
  private var pendingInput: ArraySlice<UInt8>
  private var input: OwnedDescriptor?
  private var output: OwnedDescriptor?
  private var error: OwnedDescriptor?
  private var lines = LineReader()
  private var report = Report()
  private var chunk = [UInt8](repeating: 0, count: 16 * 1024)
  private var nextSignal: (at: ContinuousClock.Instant, signal: Int32)
  /// The descriptor that is readable when the daemon stops; negative once that was noticed.
  private var stop: Int32

  init(
    group: ProcessGroup, pidfd: Int32, pipes: ProviderPipes, invocation: ProviderInvocation,
    deadline: ContinuousClock.Instant, onLine: @escaping (String) -> Void
  ) {
    self.group = group
    self.pidfd = pidfd
    self.onLine = onLine
    limit = invocation.maxOutput
    pendingInput = invocation.input[...]
    input = pipes.input
    output = pipes.output
    error = pipes.error
    nextSignal = (deadline, SIGTERM)
    stop = RunningProviders.shared.stop
  }

  /// Runs the loop until the provider has ended.
  mutating func run() -> Report {
    for pipe in [input, output, error] { if let pipe { _ = cl_set_nonblocking(pipe.raw, 1) } }
    while !waitOnce() {}
    group.kill()
    // The provider's last output is still in the pipes, at most a mebibyte each. A process outside the group that still
    // writes is not waited for.
    for _ in 0..<64 { guard readOutput() else { break } }
    for _ in 0..<64 { guard readError() else { break } }
    for line in lines.finish() { onLine(line) }
    return report
  }

  /// Waits for the next event and handles it. Returns true when the provider's first process is dead.
  private mutating func waitOnce() -> Bool {
    var polled = [
      pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0),
      pollfd(fd: input?.raw ?? -1, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: output?.raw ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: error?.raw ?? -1, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
    ]
    let ready = poll(&polled, nfds_t(polled.count), milliseconds(until: nextSignal.at))
    let problem = errno
    if ContinuousClock.now >= nextSignal.at { interfere(.timedOut, signal: nextSignal.signal) }
    if ready < 0, problem != EINTR { interfere(.notStarted("The token provider can't be watched."), signal: SIGKILL) }
    guard ready > 0 else { return false }
    if polled[4].revents != 0 {
      stop = -1
      interfere(.cancelled, signal: SIGTERM, grace: RunningProviders.stopGrace)
    }
    if polled[1].revents != 0 { feed() }
    if polled[2].revents != 0 { readOutput() }
    if polled[3].revents != 0 { readError() }
    return polled[0].revents != 0
  }

  private func milliseconds(until end: ContinuousClock.Instant) -> Int32 {
    let left = (ContinuousClock.now.duration(to: end) / .milliseconds(1)).rounded(.up)
    return Int32(min(max(left, 0), 3_600_000))
  }

  private mutating func interfere(_ reason: ProviderEnding, signal: Int32, grace: Duration = Self.grace) {
    if report.interference == nil { report.interference = reason }
    group.kill(signal)
    nextSignal = (ContinuousClock.now + grace, SIGKILL)
  }

  private mutating func feed() {
    guard let input else { return }
    if !pendingInput.isEmpty {
      let count = pendingInput.withUnsafeBytes { write(input.raw, $0.baseAddress, $0.count) }
      if count > 0 { pendingInput = pendingInput.dropFirst(count) }
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      // A provider need not read its input: a closed pipe is no failure.
      if count < 0 { pendingInput = [] }
    }
    if pendingInput.isEmpty {
      input.close()
      self.input = nil
    }
  }

  /// Reads available output. Returns false when there is none now.
  @discardableResult
  private mutating func readOutput() -> Bool {
    guard let output else { return false }
    guard let count = readChunk(output) else {
      self.output = nil
      return false
    }
    let room = limit - report.output.count
    report.output += chunk[..<min(count, room)]
    if count > room {
      interfere(.tooMuchOutput, signal: SIGKILL)
      output.close()
      self.output = nil
    }
    return count > 0
  }

  /// Reads available standard error. Returns false when there is none now.
  @discardableResult
  private mutating func readError() -> Bool {
    guard let error else { return false }
    guard let count = readChunk(error) else {
      self.error = nil
      return false
    }
    for line in lines.take(chunk[..<count]) { onLine(line) }
    return count > 0
  }

  /// Reads available bytes into `chunk`. Returns their number, 0 for none now, or `nil` at the end.
  private mutating func readChunk(_ pipe: OwnedDescriptor) -> Int? {
    let count = read(pipe.raw, &chunk, chunk.count)
    if count > 0 { return count }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : nil
  }
}
