/// Keeps a failing provider from being run again and again: exponential backoff with full jitter.
///
/// A value without a clock: the caller gives the time since any fixed moment, which must not jump with the wall clock.
package struct Breaker: Sendable, Hashable {
  /// Where the breaker stands.
  package enum State: Sendable, Hashable {
    /// Runs are allowed.
    case closed
    /// No run before this time.
    case open(until: Duration)
    /// One run is trying whether the provider works again.
    case halfOpen
  }

  /// Whether a run may begin.
  package enum Admission: Sendable, Hashable {
    case allowed
    /// Not before so much time has passed.
    case refused(retryAfter: Duration)
  }

  /// What observers are to be told.
  package enum Change: Sendable, Hashable { case opened, closed }

  /// The upper bound of the first delay.
  package static let shortest = Duration.seconds(1)
  /// The upper bound of all delays.
  package static let longest = Duration.seconds(300)

  package private(set) var state = State.closed
  package private(set) var failures = 0

  /// A breaker that saw no failure.
  package init() {}

  /// Asks to begin a run. A breaker that saw no failure allows it always.
  package mutating func admit(at now: Duration) -> Admission {
    switch state {
    case .closed: return .allowed
    case .halfOpen: return .refused(retryAfter: Self.shortest)
    case .open(let until):
      guard now >= until else { return .refused(retryAfter: until - now) }
      state = .halfOpen
      return .allowed
    }
  }

  /// A run was answered.
  package mutating func succeeded() -> Change? { reset() }

  /// A run failed.
  ///
  /// - Parameter chance: a random number from 0 to 1, the part of the longest delay that is waited.
  package mutating func failed(at now: Duration, chance: Double) -> Change? {
    let wasClosed = state == .closed
    failures = min(failures + 1, 32)
    state = .open(until: now + Self.bound(afterFailures: failures) * min(max(chance, 0), 1))
    return wasClosed ? .opened : nil
  }

  /// An admitted run came to no end of its own: it was cancelled or got no slot.
  package mutating func abandoned(at now: Duration) {
    if state == .halfOpen { state = .open(until: now) }
  }

  /// Someone with control wants an attempt now.
  package mutating func reset() -> Change? {
    let wasClosed = state == .closed
    self = Breaker()
    return wasClosed ? nil : .closed
  }

  /// When the next run is allowed; `nil` while nothing is in its way.
  package var nextAttempt: Duration? {
    if case .open(let until) = state { until } else { nil }
  }

  /// The longest delay after so many failures in a row: 1 s, 2 s, 4 s, … 5 min.
  package static func bound(afterFailures failures: Int) -> Duration {
    guard failures > 0 else { return .zero }
    return min(longest, shortest * (1 << min(failures - 1, 16)))
  }
}
