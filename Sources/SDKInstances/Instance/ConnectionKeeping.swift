import SDKProtocol

/// How an instance stands with the connection that it keeps with its vendor.
struct ConnectionKeeping {
  /// What a connection is about: another user or credential needs another one.
  struct Subject: Hashable {
    var user: String?
    var externalId: String?
    var token: TokenID?

    init(_ identity: IdentityRecord) {
      user = identity.user.id
      externalId = identity.user.externalId
      token = identity.credential?.tokenId
    }
  }

  /// The connection that is open.
  var open: (any RealtimeConnection)?
  /// What it is, or would be, about.
  var subject: Subject?
  /// Distinguishes connections: what an earlier one says is not heard any more.
  var number: UInt64 = 0
  /// Whether one is being opened.
  var isOpening = false
  /// When it is tried again.
  var retryAt: Timestamp?
  /// When the last attempt began.
  var triedAt: Timestamp?
  /// Until when the vendor wants no attempt.
  var heldUntil: Timestamp?
  /// How often in a row it failed.
  var failures = 0
  /// Since when the vendor knows the user on it.
  var connectedAt: Timestamp?
  /// What the vendor refused last: not tried again.
  var refused: Subject?
  /// Whether a refusal has been followed up since the vendor last accepted a connection: one renewal is enough.
  var isRefusalFollowedUp = false

  /// The longest pause between two attempts, in seconds.
  static let longestPause = 120.0
  /// The seconds at least between two attempts that apps bring forward.
  static let shortestInterval = 1.0
  /// After so many seconds a connection counts as a good one, and the next pause is a first one.
  static let settled = 60.0

  /// How long to wait before the next attempt: twice as long each time, at random between nothing and that.
  func pause(random: Double) -> Double {
    let longest = min(Self.longestPause, 1 * Double(1 << min(failures, 10)))
    return max(0.2, longest * min(max(random, 0), 1))
  }

  /// Brings a planned attempt forward, because an app opens a session.
  mutating func hasten(_ now: Timestamp) {
    guard open == nil, !isOpening, let planned = retryAt else { return }
    let earliest = [now, heldUntil, triedAt.map { $0 + Self.shortestInterval }].compactMap { $0 }.max() ?? now
    retryAt = min(planned, earliest)
  }

  /// Forgets the connection, but not what the vendor refused.
  mutating func drop() {
    var next = ConnectionKeeping()
    next.number = number + 1
    next.refused = refused
    next.isRefusalFollowedUp = isRefusalFollowedUp
    self = next
  }
}
