/// A token bucket: tokens arrive at a constant rate, and unused ones are kept for bursts.
///
/// Callers pass the current time, in nanoseconds on any clock that does not go back. Arithmetic saturates instead of
/// overflowing.
public struct TokenBucket: Sendable, Hashable {
  /// The time in which one token arrives.
  private let interval: UInt64
  /// The time in which the empty bucket fills.
  private let depth: UInt64
  /// The time at which the bucket is full, if no more tokens are taken.
  public private(set) var fullAt: UInt64 = 0

  /// Makes a full bucket.
  ///
  /// - Parameters:
  ///   - perSecond: the number of tokens that arrive per second, at least 1.
  ///   - burst: the number of tokens that the bucket holds, at least 1.
  public init(perSecond: Int, burst: Int) {
    interval = max(1, 1_000_000_000 / UInt64(max(1, perSecond)))
    depth = Self.product(UInt64(max(1, burst)), interval)
  }

  /// Takes a token, if there is one.
  ///
  /// - Returns: `nil` if a token was taken; else the nanoseconds until there is one.
  public mutating func take(at now: UInt64) -> UInt64? {
    let after = Self.sum(max(fullAt, now), interval)
    let bound = Self.sum(now, depth)
    guard after <= bound else { return after - bound }
    fullAt = after
    return nil
  }

  /// Takes tokens even if there are too few. The missing ones are a debt that delays later callers.
  ///
  /// - Returns: the nanoseconds until the debt is paid; 0 if there is none.
  public mutating func charge(_ tokens: Int, at now: UInt64) -> UInt64 {
    fullAt = Self.sum(max(fullAt, now), Self.product(UInt64(max(0, tokens)), interval))
    let bound = Self.sum(now, depth)
    return fullAt > bound ? fullAt - bound : 0
  }

  /// Continues a bucket that was used elsewhere, on the same clock.
  ///
  /// - Parameter time: the time at which that bucket is full. With another rate or burst, this one is full at the same
  ///   time; a time later than an empty bucket needs counts as an empty bucket.
  public mutating func adopt(fullAt time: UInt64, at now: UInt64) {
    fullAt = max(fullAt, min(time, Self.sum(now, depth)))
  }

  /// Whether the bucket is full, like a new one.
  public func isFull(at now: UInt64) -> Bool { fullAt <= now }

  private static func sum(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (result, overflow) = a.addingReportingOverflow(b)
    return overflow ? .max : result
  }

  private static func product(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let (result, overflow) = a.multipliedReportingOverflow(by: b)
    return overflow ? .max : result
  }
}
