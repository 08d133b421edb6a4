import SDKProtocol
import Synchronization

/// The exchanges that instances may make at one organisation, which share the vendor's limit of 200 access tokens a
/// minute.
final class MessagingInAppBudget: Sendable {
  /// The organisation that a limit is for: its host and the first 15 characters of its id.
  struct Organization: Hashable, Sendable {
    let base: String
    let id: String
  }

  private struct Bucket {
    var left: Double
    var filledAt: Timestamp
    /// The time before which the vendor wants no exchange.
    var closedUntil: Timestamp?
  }

  /// The exchanges a minute: fewer than the vendor's, since other clients of the organisation count too.
  static let perMinute = 150.0
  /// The exchanges that only logins may use, so that they go before renewals.
  static let forLogins = 15.0
  /// The maximum number of organisations that are remembered.
  private static let most = 4096
  /// The longest time in seconds that the vendor's wish counts.
  private static let longestPause = 3600.0

  private let buckets = Mutex<[Organization: Bucket]>([:])

  /// Takes one exchange.
  ///
  /// - Returns: `nil` if there was one, else the seconds to wait for the next.
  func take(_ organization: Organization, isLogin: Bool, now: Timestamp) -> Double? {
    buckets.withLock { buckets in
      var bucket = Self.filled(buckets[organization], now)
      defer { buckets[organization] = bucket }
      if buckets[organization] == nil, buckets.count >= Self.most {
        buckets = buckets.filter { Self.filled($0.value, now).left < Self.perMinute }
      }
      if let end = bucket.closedUntil { return end - now }
      let lacking = 1 - (bucket.left - (isLogin ? 0 : Self.forLogins))
      guard lacking <= 0 else { return lacking * 60 / Self.perMinute }
      bucket.left -= 1
      return nil
    }
  }

  /// Records that the vendor wants no exchange for some seconds.
  func close(_ organization: Organization, for seconds: Double, now: Timestamp) {
    buckets.withLock { buckets in
      var bucket = Self.filled(buckets[organization], now)
      bucket.closedUntil = now + min(max(0, seconds), Self.longestPause)
      buckets[organization] = bucket
    }
  }

  /// Returns a bucket as it is now. A clock that was set back fills nothing, and ends the vendor's wish.
  private static func filled(_ bucket: Bucket?, _ now: Timestamp) -> Bucket {
    guard var bucket else { return Bucket(left: perMinute, filledAt: now) }
    bucket.left = min(perMinute, bucket.left + max(0, now - bucket.filledAt) * perMinute / 60)
    bucket.filledAt = now
    if let end = bucket.closedUntil, end <= now || end - now > longestPause { bucket.closedUntil = nil }
    return bucket
  }
}
