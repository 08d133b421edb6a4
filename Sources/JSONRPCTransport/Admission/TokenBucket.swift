/// So many tokens a second, and a store of those that were not used, for bursts.
///
/// A value of one number, without a clock: times are nanoseconds on any clock that does not go back. No number that it
/// is given makes it overflow.
public struct TokenBucket: Sendable, Hashable {
  /// The time that one token takes to come.
  private let interval: UInt64
  /// The time that the empty store takes to be full.
  private let depth: UInt64
  /// When the store is full again, if nothing more is taken.
  private var fullAt: UInt64 = 0

  /// A full bucket.
  ///
  /// - Parameters:
  ///   - perSecond: how many tokens come in a second, at least 1.
  ///   - burst: how many are kept, at least 1.
  public init(perSecond: Int, burst: Int) {
    interval = max(1, 1_000_000_000 / UInt64(max(1, perSecond)))
    depth = Self.product(UInt64(max(1, burst)), interval)
  }

  /// Takes a token, if there is one.
  ///
  /// - Returns: `nil` when it was taken; else the nanoseconds until there is one, and nothing was taken.
  public mutating func take(at now: UInt64) -> UInt64? {
    let after = Self.sum(max(fullAt, now), interval)
    let bound = Self.sum(now, depth)
    guard after <= bound else { return after - bound }
    fullAt = after
    return nil
  }

  /// Takes tokens whether they are there or not: what is missing is a debt, and whoever takes after waits longer.
  ///
  /// - Returns: the nanoseconds until nothing is owed; 0 when nothing is.
  public mutating func charge(_ tokens: Int, at now: UInt64) -> UInt64 {
    fullAt = Self.sum(max(fullAt, now), Self.product(UInt64(max(0, tokens)), interval))
    let bound = Self.sum(now, depth)
    return fullAt > bound ? fullAt - bound : 0
  }

  /// Whether it is as good as a new one.
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
