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

  /// When to try again after a renewal ahead of time has failed: not before the breaker lets it, and spread out.
  public func retry(after now: Timestamp, breaker: Timestamp?, random: Double) -> Timestamp {
    let soonest = now + minInterval * (1 + min(max(random, 0), 1))
    return breaker.map { max($0, soonest) } ?? soonest
  }
}
