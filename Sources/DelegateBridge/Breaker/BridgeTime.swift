import SDKProtocol

/// The clocks and the random numbers of a bridge. Tests replace them.
struct BridgeTime: Sendable {
  /// The clock for sleeping.
  var clock: any Clock<Duration> = ContinuousClock()
  /// The time since a fixed moment; it doesn't jump with the wall clock.
  var uptime: @Sendable () -> Duration
  /// The wall clock, for deadlines.
  var now: @Sendable () -> Timestamp = { .now }
  /// A random number from 0 to 1.
  var chance: @Sendable () -> Double = { .random(in: 0...1) }

  /// Creates the machine's clocks and random numbers.
  init() {
    let start = ContinuousClock.now
    uptime = { start.duration(to: .now) }
  }

  /// Returns the time left until a deadline on the wall clock. At least zero, and at most twice the longest `timeout`:
  /// one for the run, one for its wait.
  func left(until deadline: Timestamp) -> Duration {
    .seconds(min(max(deadline - now(), 0), 2 * ProviderConfiguration.maximumTimeout.value))
  }
}
