internal import Glibc
internal import Linux
internal import Synchronization

/// The loop that waits for a client connection's socket, in a thread of its own.
struct ClientThread {
  private let wire: ClientWire
  private let descriptor: CInt
  private var framer: Framer
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)

  /// Starts the thread, which ends with the connection.
  static func start(_ wire: ClientWire) throws(SystemCallError) {
    try SystemThread.start(name: "sdk-client") {
      if var thread = ClientThread(wire) { thread.run() }
    }
  }

  private init?(_ wire: ClientWire) {
    guard let descriptor = wire.state.withLock({ $0.descriptor }) else { return nil }
    self.wire = wire
    self.descriptor = descriptor
    framer = Framer(limit: wire.maxLineBytes, framing: .lines)
  }

  private mutating func run() {
    var reason: ClientConnectionError?
    while reason == nil { reason = turn() }
    wire.finish(reason ?? .closed)
  }

  /// Waits once and handles what is ready. Returns the reason if the connection has ended, else `nil`.
  private mutating func turn() -> ClientConnectionError? {
    let latest = ContinuousClock.now + Self.longestSleep
    let (isSending, deadline, ending) = wire.state.withLock { state in
      let deadline = min(state.calls.nextDeadline ?? latest, latest)
      state.wakesAt = deadline
      return (!state.unsent.isEmpty, deadline, state.ending)
    }
    if let ending { return ending }
    var polled = [
      pollfd(fd: descriptor, events: Int16(POLLIN | (isSending ? POLLOUT : 0)), revents: 0),
      pollfd(fd: wire.alarm.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polled, 2, Self.milliseconds(until: deadline)) >= 0 || errno == EINTR else {
      return .system(call: "poll", errno: errno)
    }
    if polled[1].revents != 0 { wire.alarm.reset() }
    if polled[0].revents & Int16(POLLOUT) != 0 { wire.state.withLock { _ = wire.flush(&$0) } }
    if deadline <= .now {
      let overdue = wire.state.withLock { $0.calls.removeOverdue(at: .now) }
      wire.takeBack(overdue.map(\.id), overdue.map(\.waiter), ClientConnectionError.timeout)
    }
    return polled[0].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 ? receive() : nil
  }

  /// The longest wait. Calls with later deadlines need not wake the thread.
  private static let longestSleep = Duration.seconds(60)

  private static func milliseconds(until deadline: ContinuousClock.Instant) -> CInt {
    let (seconds, attoseconds) = (deadline - .now).components
    return CInt(max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
  }

  private mutating func receive() -> ClientConnectionError? {
    let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
    if count < 0 { return errno == EAGAIN || errno == EINTR ? nil : .closed }
    // A line without its end was cut, for example because the daemon was killed.
    if count == 0 { return .closed }
    framer.append(chunk[..<count])
    while let output = framer.next() {
      switch output {
      case .tooLarge: return .badMessage("a line is longer than \(framer.limit) bytes.")
      case .malformed, .foreign: return .badMessage("a line is the header of another framing.")
      case .frame(let line): if let reason = wire.receive(line) { return reason }
      }
    }
    return nil
  }
}

/// A signal that wakes a thread waiting in `poll`.
final class Alarm: Sendable {
  /// The descriptor to wait on; readable after `ring`.
  let descriptor: CInt
  private let bell: CInt

  /// Makes an alarm. Returns `nil` with `errno` if there is no socket pair, for example because all descriptors are in
  /// use.
  init?() {
    var pair: [CInt] = [-1, -1]
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    guard socketpair(AF_UNIX, CInt(type), 0, &pair) == 0 else { return nil }
    (descriptor, bell) = (pair[0], pair[1])
  }

  deinit {
    close(descriptor)
    close(bell)
  }

  /// Wakes the thread now, or makes its next wait return at once.
  func ring() {
    var byte: UInt8 = 1
    _ = send(bell, &byte, 1, CInt(MSG_NOSIGNAL))
  }

  /// Reads the bytes that `ring` has sent, so that `descriptor` is not readable until the next `ring`.
  func reset() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while recv(descriptor, &bytes, bytes.count, 0) == bytes.count {}
  }
}
