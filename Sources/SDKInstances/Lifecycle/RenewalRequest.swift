import SDKProtocol

/// A request to schedule a renewal ahead of its credential's expiry.
struct RenewalRequest: Sendable, Hashable {
  /// The owner whose share of the providers it takes.
  var owner: UInt32
  /// The latest time to begin, if nothing delays it.
  var latest: Timestamp
  /// The earliest time to which it may be moved, so that others can be served after it.
  var earliest: Timestamp
  /// The expiry of the credential; `nil` if it has passed.
  var end: Timestamp?
  /// A number from 0 to 1 that sets how far a late renewal is postponed.
  var random: Double

  /// Whether another request can be served by the same reservation.
  func isLike(_ other: RenewalRequest) -> Bool {
    owner == other.owner && abs(latest - other.latest) < 1 && abs(earliest - other.earliest) < 1
  }
}

/// The reservation of a renewal in the schedule.
struct RenewalPlace: Sendable, Hashable {
  /// The request that it serves.
  let request: RenewalRequest
  /// The time at which the renewal begins.
  let start: Timestamp
  /// Whether its time had passed when it was reserved: the machine slept, the clock was set, or the daemon was down.
  let isCatchingUp: Bool
  /// The time buckets that it takes, and its share of each.
  let cells: Range<Int>
  let load: Double
  /// The generation of the schedule in which it was reserved.
  let generation: UInt64
}

/// The renewal strategies of a credential: where a new one could come from.
public struct RenewalMeans: Sendable, Hashable {
  /// Whether the SDK can get one from the vendor by itself: with a refresh token, or by exchanging the identity again.
  public var itself: Bool
  /// Whether a delegate or a token provider is available to supply one.
  public var bridge: Bool

  /// A set of strategies, by default none.
  public init(itself: Bool = false, bridge: Bool = false) {
    self.itself = itself
    self.bridge = bridge
  }

  /// No strategy.
  public static let none = RenewalMeans()
  /// Only the bridge.
  public static let bridge = RenewalMeans(bridge: true)

  /// Whether there is no strategy.
  public var isNone: Bool { !itself && !bridge }
}
