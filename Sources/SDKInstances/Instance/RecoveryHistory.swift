import SDKProtocol

/// When the credential was renewed before and how that ended: what keeps renewals apart.
struct RecoveryHistory: Sendable {
  /// When the last renewal ended.
  var endedAt: Timestamp?
  /// How it ended; `nil` for well.
  var failure: SDKError?
  /// Whether it signed a user in: what is said of that credential afterwards is news.
  var wasLogin = false
  /// When it began.
  var beganAt: Timestamp?
  /// When the vendor was last asked about a credential that an app reported.
  var probedAt: Timestamp?
  /// How long the provider took the last time it answered, in seconds.
  var lead = 0.0
  /// The jitter of the credential at hand: drawn once, or the plan would move with each look.
  var random = 0.5

  /// When the owner was lately asked whether to go on after a failure.
  private var confirmations: [Timestamp] = []

  /// Notes one more question whether to go on, unless there were as many as this within a minute.
  mutating func mayConfirm(_ now: Timestamp, atMost limit: Int) -> Bool {
    confirmations.removeAll { now - $0 >= 60 || now < $0 }
    guard confirmations.count < limit else { return false }
    confirmations.append(now)
    return true
  }

  /// Whether a report of an app must wait: the last probe or renewal was less than `interval` seconds ago.
  func holdsBack(_ now: Timestamp, within interval: Double) -> Bool {
    !wasLogin && isRecent(now, within: interval) || probedAt.map { now - $0 < interval && now >= $0 } ?? false
  }

  /// Whether the last renewal ended less than `interval` seconds ago.
  func isRecent(_ now: Timestamp, within interval: Double) -> Bool {
    endedAt.map { now - $0 < interval && now >= $0 } ?? false
  }
}
