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
