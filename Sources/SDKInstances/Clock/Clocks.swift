import Glibc
public import SDKProtocol

/// The wall clock and a source of random numbers, injected so that tests neither sleep nor depend on chance.
public struct WallClock: Sendable {
  /// Returns the current time.
  public var now: @Sendable () -> Timestamp
  /// Returns the time of the machine. It differs from `now` for a vendor's clock.
  public var machine: @Sendable () -> Timestamp
  /// Returns a random number from 0 to 1.
  public var random: @Sendable () -> Double

  /// Creates a clock of these functions.
  public init(
    now: @escaping @Sendable () -> Timestamp, machine: (@Sendable () -> Timestamp)? = nil,
    random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    self.now = now
    self.machine = machine ?? now
    self.random = random
  }

  /// The earlier of the two times. A credential that has expired by it has expired by both clocks.
  public var earliest: Timestamp { min(now(), machine()) }

  /// Makes a check that depends on the time, by the vendor's time and then by that of the machine. A check that fails
  /// by one clock only is passed, because then the vendor must decide.
  ///
  /// - Throws: the error by the vendor's time.
  public func checking<T>(_ check: (Timestamp) throws -> T) throws -> T {
    let (vendor, own) = (now(), machine())
    do {
      return try check(vendor)
    } catch {
      if vendor != own, let passed = try? check(own) { return passed }
      throw error
    }
  }

  /// The clock of the machine.
  public static let system = WallClock(now: { .now })
}

/// A clock that changes of the system time don't affect. Tests replace it.
public struct MonotonicClock: Sendable {
  /// Returns the time since the clock's fixed start.
  public let now: @Sendable () -> Duration

  /// Creates a clock.
  public init(now: @escaping @Sendable () -> Duration) { self.now = now }

  /// The clock of the machine, which `ContinuousClock` uses too. That one takes twice the time.
  public static let system = MonotonicClock {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
