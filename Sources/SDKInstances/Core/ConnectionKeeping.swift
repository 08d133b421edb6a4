import SDKProtocol

/// The state of the realtime connection that a service keeps with the vendor.
struct ConnectionKeeping: Sendable {
  /// The user and credential that a connection is for. When they change, a new connection is needed.
  struct Subject: Hashable, Sendable {
    var user: String?
    var externalId: String?
    var token: TokenID?

    init(_ identity: IdentityRecord) {
      user = identity.user.id
      externalId = identity.user.externalId
      token = identity.credential?.tokenId
    }
  }

  /// Whether a connection is open.
  var isOpen = false
  /// The user and credential of the present or next connection.
  var subject: Subject?
  /// The number of the present connection. Messages from a connection with an earlier number are ignored.
  var number: UInt64 = 0
  /// Whether a connection is being opened.
  var isOpening = false
  /// The time of the next attempt; `nil` when none is planned.
  var retryAt: Timestamp?
  /// The time at which the last attempt began.
  var triedAt: Timestamp?
  /// The time before which the vendor asked not to be tried again; `nil` without such a request.
  var heldUntil: Timestamp?
  /// The number of consecutive failures.
  var failures = 0
  /// The time at which the vendor confirmed the user on the connection.
  var connectedAt: Timestamp?
  /// The user and credential that the vendor refused last. They are not tried again.
  var refused: Subject?
  /// Whether a refusal has led to a renewal or a probe since the vendor last accepted a connection. Further refusals
  /// are only logged.
  var isRefusalFollowedUp = false

  /// The longest pause between two attempts, in seconds.
  static let longestPause = 120.0
  /// The minimum seconds between two attempts when an app brings one forward.
  static let shortestInterval = 1.0
  /// The seconds after which an open connection counts as stable. Its end then resets `failures`, so that the next
  /// pause is short.
  static let stableAfter = 60.0

  /// Returns the seconds until the next attempt: a random part of a limit, but at least 0.2. The limit doubles with
  /// each failure, up to `longestPause`.
  func pause(random: Double) -> Double {
    let longest = min(Self.longestPause, 1 * Double(1 << min(failures, 10)))
    return max(0.2, longest * min(max(random, 0), 1))
  }

  /// Returns the time of the next attempt, which is `now` if `retryAt` lies further away than any pause, because the
  /// clock was set back. One second is added for rounding.
  func nextAttempt(_ now: Timestamp) -> Timestamp? {
    retryAt.map { $0 - now > Self.longestPause + 1 ? now : $0 }
  }

  /// Brings a planned attempt forward, because an app opens a session. `heldUntil` and `shortestInterval` still apply.
  mutating func hasten(_ now: Timestamp) {
    guard !isOpen, !isOpening, let planned = retryAt else { return }
    let earliest = [now, heldUntil, triedAt.map { $0 + Self.shortestInterval }].compactMap { $0 }.max() ?? now
    retryAt = min(planned, earliest)
  }

  /// Begins an attempt to connect.
  mutating func begin(_ now: Timestamp) {
    number += 1
    isOpening = true
    retryAt = nil
    triedAt = now
  }

  /// Records that the connection is open.
  mutating func opened() {
    isOpen = true
    isOpening = false
    retryAt = nil
  }

  /// Replaces the present connection by the one on which the vendor accepted a user.
  mutating func replace(for subject: Subject, _ now: Timestamp) {
    drop()
    self.subject = subject
    number += 1
    connectedAt = now
    opened()
  }

  /// Records that the vendor confirmed the user on the connection.
  mutating func confirmed(_ now: Timestamp) {
    connectedAt = now
    refused = nil
    isRefusalFollowedUp = false
  }

  /// Records that the connection, or the attempt to open it, has ended.
  mutating func ended() {
    isOpen = false
    isOpening = false
    retryAt = nil
    connectedAt = nil
  }

  /// Whether the connection has been up for long enough to count as stable.
  func isStable(_ now: Timestamp) -> Bool { connectedAt.map { now - $0 >= Self.stableAfter } ?? false }

  /// Plans the next attempt after the connection was lost.
  mutating func planRetry(after error: SDKError, _ now: Timestamp, random: Double) {
    failures += 1
    let wish = error.retryAfter.map { now + min($0, Self.longestPause) }
    heldUntil = wish
    retryAt = max(now + pause(random: random), wish ?? now)
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
