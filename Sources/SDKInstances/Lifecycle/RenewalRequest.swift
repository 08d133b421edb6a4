import SDKProtocol

/// A request to schedule a renewal ahead of its credential's expiry.
struct RenewalRequest: Sendable, Hashable {
  /// The uid of the owner against whose quota of providers the renewal counts.
  var owner: UInt32
  /// The planned time of the renewal, at which it begins if capacity is free.
  var latest: Timestamp
  /// The earliest time to which the renewal may be moved to make room for others.
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
  /// The request for which the reservation was made.
  let request: RenewalRequest
  /// The time at which the renewal begins.
  let start: Timestamp
  /// Whether the planned time had already passed when the reservation was made: the machine slept, the clock was set,
  /// or the daemon was down.
  let isCatchingUp: Bool
  /// The time buckets in which the reservation takes capacity, and the fraction that it takes of each.
  let cells: Range<Int>
  let load: Double
  /// The generation of the schedule in which the reservation was made. A reservation of an earlier generation is no
  /// longer valid.
  let generation: UInt64
}

/// The renewal strategies that are available for a credential.
public struct RenewalMeans: Sendable, Hashable {
  /// Whether the SDK can get a new credential from the vendor without the owner: with a refresh token, or by exchanging
  /// the identity again.
  public var itself = false
  /// Whether a delegate or a token provider is available to supply a new credential.
  public var bridge = false

  /// No strategy.
  public static let none = RenewalMeans()
  /// Only the bridge.
  public static let bridge = RenewalMeans(bridge: true)

  /// Whether there is no strategy.
  public var isNone: Bool { !itself && !bridge }
}
