/// The time since a fixed moment, which no setting of the clock moves; replaced in tests.
public struct MonotonicClock: Sendable {
  /// Now.
  public let now: @Sendable () -> Duration

  /// A clock.
  public init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// The machine's.
  public static let system: MonotonicClock = {
    let start = ContinuousClock.now
    return MonotonicClock { start.duration(to: .now) }
  }()
}
