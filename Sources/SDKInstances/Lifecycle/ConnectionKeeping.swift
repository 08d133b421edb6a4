import SDKProtocol

/// The state of the realtime connection that a lane keeps with the vendor.
struct ConnectionKeeping {
  /// The user and credential that a connection is for. When they change, a new connection is needed.
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

  /// The open connection; `nil` without one.
  var open: (any RealtimeConnection)?
  /// The user and credential of the present or next connection.
  var subject: Subject?
  /// The number of the present connection. News from a connection with an earlier number is ignored.
  var number: UInt64 = 0
  /// Whether a connection is being opened.
  var isOpening = false
  /// The time of the next attempt; `nil` when none is planned.
  var retryAt: Timestamp?
  /// The time at which the last attempt began.
  var triedAt: Timestamp?
  /// The time before which the vendor wants no attempt.
  var heldUntil: Timestamp?
  /// The number of consecutive failures.
  var failures = 0
  /// The time at which the vendor confirmed the user on the connection.
  var connectedAt: Timestamp?
  /// The user and credential that the vendor refused last. They are not tried again.
  var refused: Subject?
  /// Whether a refusal has been followed up since the vendor last accepted a connection. One follow-up is enough.
  var isRefusalFollowedUp = false

  /// The longest pause between two attempts, in seconds.
  static let longestPause = 120.0
  /// The minimum seconds between two attempts when an app brings one forward.
  static let shortestInterval = 1.0
  /// The seconds after which a connection counts as stable. After a stable connection, pauses start short again.
  static let settled = 60.0

  /// Returns the seconds until the next attempt: a random part of a limit, but at least 0.2. The limit doubles with
  /// each failure, up to `longestPause`.
  func pause(random: Double) -> Double {
    let longest = min(Self.longestPause, 1 * Double(1 << min(failures, 10)))
    return max(0.2, longest * min(max(random, 0), 1))
  }

  /// Brings a planned attempt forward, because an app opens a session. `heldUntil` and `shortestInterval` still apply.
  mutating func hasten(_ now: Timestamp) {
    guard open == nil, !isOpening, let planned = retryAt else { return }
    let earliest = [now, heldUntil, triedAt.map { $0 + Self.shortestInterval }].compactMap { $0 }.max() ?? now
    retryAt = min(planned, earliest)
  }

  /// Resets the state, except for `refused` and `isRefusalFollowedUp`, and raises `number`.
  mutating func drop() {
    var next = ConnectionKeeping()
    next.number = number + 1
    next.refused = refused
    next.isRefusalFollowedUp = isRefusalFollowedUp
    self = next
  }
}
