public import SDKProtocol

/// The wall clock and chance, injected so that no test sleeps or rolls dice.
public struct WallClock: Sendable {
  /// The time now.
  public var now: @Sendable () -> Timestamp
  /// A number from 0 to 1.
  public var random: @Sendable () -> Double

  /// A clock of these functions.
  public init(
    now: @escaping @Sendable () -> Timestamp, random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
  ) {
    self.now = now
    self.random = random
  }

  /// The machine's.
  public static let system = WallClock(now: { .now })
}
