import DelegateBridge
import SDKProtocol

/// When the credential was renewed before and how that ended: what keeps renewals apart.
struct RecoveryHistory: Sendable {
  /// When the last renewal ended.
  var endedAt: Timestamp?
  /// How it ended; `nil` for well.
  var failure: SDKError?
  /// How many have failed in a row because the provider or the vendor did.
  var failures = 0
  /// When this process first saw the credential.
  var since: Timestamp?
  /// Whether it signed a user in: what is said of that credential afterwards is news.
  var wasLogin = false
  /// What begins the next one, if not what happens to the instance says so.
  var trigger: EndedRenewal.Trigger?
  /// When it began.
  var beganAt: Timestamp?
  /// When the vendor was last asked about a credential that an app reported.
  var probedAt: Timestamp?
  /// How long an answer takes, the wait for its turn included.
  var answerTime = TypicalTime()
  /// The jitter of the next renewal: drawn once for each, or the plan would move with each look.
  var random = 0.5

  /// When the owner was lately asked whether to go on after a failure.
  private var confirmations: [Timestamp] = []

  /// Returns the history for a user who signs in now. It keeps what is known of the provider.
  func ofNextUser(_ now: Timestamp) -> RecoveryHistory {
    var next = RecoveryHistory()
    next.since = now
    next.answerTime = answerTime
    next.random = random
    return next
  }

  /// Notes how a renewal ended.
  mutating func end(_ now: Timestamp, failure: SDKError?, random: Double) {
    endedAt = now
    self.failure = failure
    guard let failure else {
      failures = 0
      return
    }
    // The breaker's refusal is no failure of its own.
    if failure.reason != .providerBackoff { failures = min(failures + 1, 32) }
    self.random = random
  }

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
