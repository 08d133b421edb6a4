public import SDKProtocol

/// When a credential is renewed ahead of its end (`provider.md`, "When it is asked"): pure.
public struct RefreshPlanner: Sendable, Hashable {
  /// Ahead of time or when somebody asks.
  public enum Mode: String, Sendable, Codable, CaseIterable { case eager, lazy }

  /// Whether to renew ahead of time.
  public var mode: Mode
  /// Seconds before the end; at least a tenth of the lifetime is used.
  public var margin: Double
  /// The fraction of the lifetime by which a renewal may come earlier, at random.
  public var jitter: Double
  /// Seconds that must lie between two renewals.
  public var minInterval: Double

  /// A planner with these settings.
  public init(mode: Mode, margin: Double, jitter: Double, minInterval: Double) {
    self.mode = mode
    self.margin = margin
    self.jitter = jitter
    self.minInterval = minInterval
  }

  /// When to renew; `nil` when nothing is to be done ahead of time.
  ///
  /// - Parameters:
  ///   - obtained: when the credential came.
  ///   - expires: when it ends; unknown means never ahead of time.
  ///   - lead: how many seconds the provider took before: the renewal starts so much earlier.
  ///   - random: a number from 0 to 1, for the jitter.
  public func renewal(
    obtained: Timestamp, expires: Timestamp?, lead: Double = 0, random: Double
  ) -> Timestamp? {
    guard mode == .eager, let expires else { return nil }
    let lifetime = max(0, expires - obtained)
    // A margin longer than half the life would renew a fresh token at once, for ever.
    let early = min(max(margin, lifetime / 10) + lead, lifetime / 2)
    let planned = expires - early - min(max(random, 0), 1) * jitter * lifetime
    return max(planned, obtained + min(minInterval, lifetime / 2))
  }

  /// When a renewal may begin so that the providers suffice for all that are due: not in the first half of the life,
  /// but for chance.
  public func earliest(obtained: Timestamp, expires: Timestamp) -> Timestamp {
    obtained + max(0, expires - obtained) / 2
  }

  /// When to try again after a renewal has failed.
  ///
  /// Where a breaker holds the provider back, its time counts, which is drawn from a time that doubles with each
  /// failure; where none does, as with a vendor that can't be reached, one is drawn here in the same way. A second
  /// pause on top of the breaker's would only keep the user waiting when the provider works again.
  ///
  /// - Parameters:
  ///   - now: when it failed.
  ///   - failures: how many have failed in a row.
  ///   - breaker: when the breaker allows the next run; `nil` when it does not stand in the way.
  ///   - end: the credential's end while it lives: attempts come closer together before it.
  ///   - random: a number from 0 to 1, drawn for this attempt.
  public func retry(
    after now: Timestamp, failures: Int = 1, breaker: Timestamp?, end: Timestamp? = nil, random: Double
  ) -> Timestamp {
    let random = min(max(random, 0), 1)
    if let breaker { return max(breaker, now + minInterval * (1 + random)) }
    var longest = min(Self.longestRetry, max(minInterval, 1) * Double(1 << min(max(failures - 1, 0), 16)))
    if let end, end > now { longest = min(longest, max(minInterval, (end - now) / 2)) }
    return now + minInterval + longest * random
  }

  /// Seconds within which every attempt falls, however many have failed.
  public static let longestRetry = 300.0
}
