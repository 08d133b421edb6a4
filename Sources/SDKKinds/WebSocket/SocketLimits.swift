import NIOCore

/// The limits of memory and time for one WebSocket.
struct SocketLimits: Sendable {
  /// The maximum bytes of a message, all fragments together.
  var message = 4 << 20
  /// The maximum number of messages that wait for the consumer. Reads pause while there are more.
  var waiting = 64
  /// The maximum bytes of messages that wait for the consumer. Reads pause while there are more.
  var waitingBytes = 4 << 20
  /// The maximum bytes that wait to be sent.
  var unsentBytes = 4 << 20
  /// The budget of pings and pongs that the server sends. Each costs the event loop that all vendors share.
  var controlFrames = FrameBudget(burst: 64, perSecond: 16)
  /// The budget of all frames, and of kibibytes, that the server sends.
  var frames = FrameBudget(burst: 16_384, perSecond: 1024)
  var kibibytes = FrameBudget(burst: 65_536, perSecond: 8192)
  /// The time that the peer has to answer a close frame.
  var closing = TimeAmount.seconds(3)
  /// The time between pings, and the time limit for their answers.
  var pingInterval = TimeAmount.seconds(20)

  /// Returns seconds from a setting as an amount of time, limited to a range.
  static func amount(_ seconds: Double, within range: ClosedRange<Double>) -> TimeAmount {
    guard seconds == seconds else { return .milliseconds(Int64(range.upperBound * 1000)) }
    return .milliseconds(Int64(min(max(seconds, range.lowerBound), range.upperBound) * 1000))
  }
}

/// A budget that one connection uses up, and that fills again at a steady rate. Exceeding it ends the connection.
struct FrameBudget: Sendable {
  private let burst: Double
  private let perSecond: Double
  private var left: Double
  private var time: NIODeadline?

  /// Creates a full budget.
  init(burst: Double, perSecond: Double) {
    self.burst = burst
    self.perSecond = perSecond
    left = burst
  }

  /// Takes `count` from the budget. Returns whether it was enough.
  mutating func take(_ count: Double = 1, at now: NIODeadline) -> Bool {
    if let time { left = min(left + Double((now - time).nanoseconds) / 1e9 * perSecond, burst) }
    time = now
    left -= count
    return left >= 0
  }
}
