import NIOCore

/// What one WebSocket may take of memory and time.
struct SocketLimits: Sendable {
  /// Bytes of one message, its fragments together.
  var message = 4 << 20
  /// Messages that may wait for the consumer; while there are more we don't read.
  var waiting = 64
  /// Bytes of messages that may wait for the consumer.
  var waitingBytes = 4 << 20
  /// Bytes that may wait for the peer to take them.
  var unsentBytes = 4 << 20
  /// How long the peer has for its part of closing.
  var closing = TimeAmount.seconds(3)
  /// Time between pings, and for their answers.
  var pingInterval = TimeAmount.seconds(20)

  /// Seconds from a setting as an amount of time within bounds.
  static func amount(_ seconds: Double, within range: ClosedRange<Double>) -> TimeAmount {
    guard seconds == seconds else { return .milliseconds(Int64(range.upperBound * 1000)) }
    return .milliseconds(Int64(min(max(seconds, range.lowerBound), range.upperBound) * 1000))
  }
}
