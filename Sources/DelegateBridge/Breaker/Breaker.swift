/// A circuit breaker that limits how often a failing provider runs: exponential backoff with full jitter.
///
/// A value without a clock. The caller passes the time since a fixed moment, from a clock that doesn't jump with the
/// wall clock.
package struct Breaker: Sendable, Hashable {
  /// The state of the breaker.
  package enum State: Sendable, Hashable {
    /// Runs are allowed.
    case closed
    /// No run is allowed before this time.
    case open(until: Duration)
    /// A trial run is in progress, which decides whether the breaker closes.
    case halfOpen
  }

  /// The decision whether a run may begin.
  package enum Admission: Sendable, Hashable {
    case allowed
    /// No run is allowed before this much time has passed.
    case refused(retryAfter: Duration)
  }

  /// The changes of state that observers are notified of.
  package enum Change: Sendable, Hashable { case opened, closed }

  /// The upper bound of the delay after the first failure.
  package static let shortest = Duration.seconds(1)
  /// The upper bound of every delay, however many failures there were.
  package static let longest = Duration.seconds(300)

  package private(set) var state = State.closed
  package private(set) var failures = 0
  /// The failures in a row before the last answered run.
  private var failuresBefore = 0
  /// Whether observers know the breaker as open.
  private var isReportedOpen = false

  /// Creates a closed breaker without failures.
  package init() {}

  /// Returns whether a run may begin. A closed breaker always allows it. An open one whose delay is over allows one
  /// run, and becomes half-open.
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

  /// Records that a run was answered. Allows runs again. That the breaker closes is reported once the answer is
  /// `accepted`, since it may yet be `rejected`.
  package mutating func succeeded() {
    failuresBefore = failures
    failures = 0
    state = .closed
  }

  /// Records that the answer of the last run could be used.
  package mutating func accepted() -> Change? { state == .closed ? report() : nil }

  /// Records that the answer of the last run could not be used. The run counts as a failure that follows those before
  /// it.
  package mutating func rejected(at now: Duration, chance: Double) -> Change? {
    failures = max(failures, failuresBefore)
    return failed(at: now, chance: chance)
  }

  /// Records that a run failed. Opens the breaker.
  ///
  /// - Parameter chance: a random number from 0 to 1: the fraction of the longest delay to wait.
  package mutating func failed(at now: Duration, chance: Double) -> Change? {
    failures = min(failures + 1, 32)
    state = .open(until: now + Self.bound(afterFailures: failures) * min(max(chance, 0), 1))
    return report()
  }

  /// Records that an admitted run has no result, because it was cancelled or got no slot. A half-open breaker then
  /// allows the next run at once.
  package mutating func abandoned(at now: Duration) {
    if state == .halfOpen { state = .open(until: now) }
  }

  /// Closes the breaker, because a caller with the control role requests an attempt now.
  package mutating func reset() -> Change? {
    succeeded()
    failuresBefore = 0
    return report()
  }

  /// Returns the change since the last report; `nil` for none.
  private mutating func report() -> Change? {
    let isOpen = state != .closed
    guard isOpen != isReportedOpen else { return nil }
    isReportedOpen = isOpen
    return isOpen ? .opened : .closed
  }

  /// The time at which the next run is allowed; `nil` unless the breaker is open.
  package var nextAttempt: Duration? {
    if case .open(let until) = state { until } else { nil }
  }

  /// Returns the longest delay after this number of failures in a row: 1 s, 2 s, 4 s, … 5 min.
  package static func bound(afterFailures failures: Int) -> Duration {
    guard failures > 0 else { return .zero }
    return min(longest, shortest * (1 << min(failures - 1, 16)))
  }
}
