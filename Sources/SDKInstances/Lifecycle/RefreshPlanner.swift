public import SDKProtocol

/// A planner that computes when to renew a credential (`provider.md`, "When it is asked"). It has no state of its own.
public struct RefreshPlanner: Sendable, Hashable {
  /// The mode of renewal: before the expiry, or on demand.
  public enum Mode: String, Sendable, Codable, CaseIterable { case eager, lazy }

  /// Whether to renew ahead of time.
  public var mode: Mode
  /// The seconds before the expiry at which to renew. If a tenth of the credential's lifetime is longer, that is used.
  public var margin: Double
  /// The fraction of the lifetime by which a renewal may come earlier, at random.
  public var jitter: Double
  /// The minimum number of seconds between two renewals.
  public var minInterval: Double

  /// Creates a planner with these settings.
  public init(mode: Mode, margin: Double, jitter: Double, minInterval: Double) {
    self.mode = mode
    self.margin = margin
    self.jitter = jitter
    self.minInterval = minInterval
  }

  /// Returns when to renew; `nil` when nothing is to be done ahead of time.
  ///
  /// - Parameters:
  ///   - obtained: when the credential was obtained.
  ///   - expires: when it expires; `nil`, for an unknown expiry, means never ahead of time.
  ///   - lead: the number of seconds that the provider took before. The renewal starts earlier by that.
  ///   - random: a number from 0 to 1, for the jitter.
  public func renewal(
    obtained: Timestamp, expires: Timestamp?, lead: Double = 0, random: Double
  ) -> Timestamp? {
    guard mode == .eager, let expires else { return nil }
    let lifetime = max(0, expires - obtained)
    // A margin over half the lifetime would renew each fresh token at once, without end.
    let early = min(max(margin, lifetime / 10) + lead, lifetime / 2)
    let planned = expires - early - min(max(random, 0), 1) * jitter * lifetime
    return max(planned, obtained + min(minInterval, lifetime / 2))
  }

  /// Returns the earliest time to which a renewal may be moved so that the providers suffice for all: the middle of the
  /// lifetime. Only jitter can plan an earlier time.
  public func earliest(obtained: Timestamp, expires: Timestamp) -> Timestamp {
    obtained + max(0, expires - obtained) / 2
  }

  /// Returns when to retry after a renewal has failed.
  ///
  /// If a breaker holds the provider back, its time counts, drawn from a range that doubles with each failure. Without
  /// a breaker, as for an unreachable vendor, a delay is drawn here in the same way. Adding both would keep the user
  /// waiting when the provider works again.
  ///
  /// - Parameters:
  ///   - now: when the renewal failed.
  ///   - failures: the number of failures in a row.
  ///   - breaker: when the breaker allows the next run; `nil` if it does not block.
  ///   - end: when the credential expires, if it has not: attempts come closer together before it.
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

  /// The longest random part of a retry's delay in seconds, however many attempts have failed.
  public static let longestRetry = 300.0
}
