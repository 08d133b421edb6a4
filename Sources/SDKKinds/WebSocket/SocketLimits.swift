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

/// The waits between attempts to reconnect. They grow exponentially. Each is a random part of the whole ("full
/// jitter"), so that the clients of one server don't reconnect at once.
struct Backoff: Sendable, Hashable {
  /// The longest the first wait can be, in seconds.
  let first: Double
  /// The longest any wait can be, in seconds.
  let longest: Double
  /// The number of waits since the last success, counted until the longest wait is reached.
  private(set) var attempts = 0

  /// Creates waits of up to `first` seconds at the beginning, which double up to `longest`.
  init(first: Double = 1, longest: Double = 60) {
    self.first = first.isFinite ? max(first, 0) : 0
    self.longest = longest.isFinite ? max(longest, self.first) : self.first
  }

  /// The longest that the next wait can be, in seconds.
  var ceiling: Double {
    var ceiling = first
    for _ in 0..<attempts where ceiling < longest { ceiling *= 2 }
    return min(ceiling, longest)
  }

  /// Returns the next wait in seconds, for a random number from 0 up to 1.
  mutating func next(_ random: Double = .random(in: 0..<1)) -> Double {
    let wait = ceiling * min(max(random, 0), 1)
    // More attempts change nothing once the longest wait is reached.
    if ceiling < longest, ceiling > 0 { attempts += 1 }
    return wait
  }

  /// Makes the next wait a first one, after a connection that worked.
  mutating func reset() { attempts = 0 }
}
