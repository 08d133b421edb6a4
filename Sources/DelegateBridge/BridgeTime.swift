import SDKProtocol

/// The clocks and the dice of a bridge, so that tests can bring their own.
struct BridgeTime: Sendable {
  /// What is slept on.
  var clock: any Clock<Duration> = ContinuousClock()
  /// The time since a fixed moment; it doesn't jump with the wall clock.
  var uptime: @Sendable () -> Duration
  /// The wall clock, for deadlines.
  var now: @Sendable () -> Timestamp = { .now }
  /// A random number from 0 to 1.
  var chance: @Sendable () -> Double = { .random(in: 0...1) }

  /// The machine's.
  init() {
    let start = ContinuousClock.now
    uptime = { start.duration(to: .now) }
  }

  /// How long there is until a moment of the wall clock; never longer than the longest run and its wait.
  func left(until deadline: Timestamp) -> Duration {
    .seconds(min(max(deadline - now(), 0), 2 * ProviderConfiguration.maximumTimeout.value))
  }
}
