/// A clock that changes of the system time don't affect. Tests replace it.
public struct MonotonicClock: Sendable {
  /// Returns the time since the clock's fixed start.
  public let now: @Sendable () -> Duration

  /// A clock.
  public init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// The clock of the machine, which starts at the first use of this property.
  public static let system: MonotonicClock = {
    let start = ContinuousClock.now
    return MonotonicClock { start.duration(to: .now) }
  }()
}
