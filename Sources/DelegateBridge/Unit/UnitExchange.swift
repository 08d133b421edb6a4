import CLinux
import Glibc
import Linux
import ProviderUnit

/// An exchange of one question and its reply with a unit: a blocking loop, on a thread of its own.
struct UnitExchange {
  private let unit: UnitSocket
  private let socket: OwnedDescriptor
  private let limit: Int
  private let deadline: ContinuousClock.Instant
  private let isCancelled: () -> Bool
  private let wakeup: OwnedDescriptor
  private var pending: ArraySlice<UInt8>
  private var isAsked = false
  /// Whether the unit has closed the connection, as the wrapper does when its program has ended.
  private var hasEnded = false
  private var received: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 16 * 1024)

  /// The longest wait for the end of a program that is no longer needed, in milliseconds. The wrapper kills it after 2 s.
  private static let patience: Int32 = 5000

  /// Creates an exchange.
  ///
  /// - Parameter wakeup: a descriptor that becomes readable when the exchange is cancelled.
  init(
    unit: UnitSocket, socket: OwnedDescriptor, invocation: ProviderInvocation, deadline: ContinuousClock.Instant,
    wakeup: OwnedDescriptor, isCancelled: @escaping () -> Bool
  ) {
    self.unit = unit
    self.socket = socket
    self.deadline = deadline
    self.wakeup = wakeup
    self.isCancelled = isCancelled
    limit = invocation.maxOutput
    pending = invocation.input[...]
  }

  /// Sends the question and reads until the reply is complete or too long, the deadline passes, or the exchange is
  /// cancelled. Returns when the unit's program has ended, as a rule.
  mutating func run() -> ProviderRun {
    do throws(UnitSocket.NoConnection) {
      try unit.connect(socket, until: deadline, isCancelled: isCancelled)
    } catch {
      return ProviderRun(ending: isCancelled() ? .cancelled : error.ending)
    }
    let run = exchange()
    // The program still runs, and counts as a run until it has ended or the daemon stops.
    if !hasEnded { _ = cl_end_and_await_peer(socket.raw, RunningProviders.shared.stop, Self.patience) }
    return run
  }

  private mutating func exchange() -> ProviderRun {
    while true {
      if isCancelled() { return ProviderRun(ending: .cancelled) }
      guard ContinuousClock.now < deadline else { return ProviderRun(ending: .timedOut) }
      var polled = [
        pollfd(fd: socket.raw, events: Int16(isAsked ? POLLIN : POLLIN | POLLOUT), revents: 0),
        pollfd(fd: wakeup.raw, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&polled, nfds_t(polled.count), milliseconds) > 0 else { continue }
      if !isAsked, polled[0].revents & Int16(POLLOUT) != 0 { ask() }
      // Read to the end of the connection: only that shows that the reply is complete and the wrapper has ended.
      if polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0, let run = receive() { return run }
    }
  }

  private var milliseconds: Int32 {
    let left = (ContinuousClock.now.duration(to: deadline) / .milliseconds(1)).rounded(.up)
    return Int32(min(max(left, 0), 3_600_000))
  }

  private mutating func ask() {
    let count = pending.withUnsafeBytes { send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    if count > 0 { pending = pending.dropFirst(count) }
    if count < 0, errno == EAGAIN || errno == EINTR { return }
    // The unit need not read the question. Reading notices its end.
    if count < 0 || pending.isEmpty {
      isAsked = true
      _ = shutdown(socket.raw, Int32(SHUT_WR))
    }
  }

  /// Reads available bytes. Returns the run when the connection has ended or the output is too long.
  private mutating func receive() -> ProviderRun? {
    let count = recv(socket.raw, &chunk, chunk.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    guard count > 0 else { return ended() }
    received += chunk[..<count]
    return received.count > limit + ProviderStatus.longestTrailer ? ProviderRun(ending: .tooMuchOutput) : nil
  }

  private mutating func ended() -> ProviderRun {
    hasEnded = true
    if isCancelled() { return ProviderRun(ending: .cancelled) }
    guard let reply = ProviderReply(received) else {
      return ProviderRun(
        ending: .lost(
          "The token provider's unit ended without saying how; see: \(unit.journal)."))
    }
    guard reply.output.count <= limit else { return ProviderRun(ending: .tooMuchOutput) }
    switch reply.status {
    case .exited(let status): return ProviderRun(ending: .exited(status), output: reply.output)
    case .signalled(let signal): return ProviderRun(ending: .signalled(signal), output: reply.output)
    }
  }
}
