/// Waits between attempts to reconnect: exponential, each a random part of the whole ("full jitter"), so that many
/// clients of one server don't come back at once.
struct Backoff: Sendable, Hashable {
  /// The longest the first wait can be, in seconds.
  let first: Double
  /// The longest any wait can be, in seconds.
  let longest: Double
  /// Waits since the last success.
  private(set) var attempts = 0

  /// Waits that begin at up to `first` seconds and double up to `longest`.
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

  /// The next wait in seconds, from a random number of 0 up to 1.
  mutating func next(_ random: Double = .random(in: 0..<1)) -> Double {
    let wait = ceiling * min(max(random, 0), 1)
    // Past the longest wait, more attempts change nothing.
    if ceiling < longest, ceiling > 0 { attempts += 1 }
    return wait
  }

  /// A connection was good: the next wait is a first one.
  mutating func reset() { attempts = 0 }
}
