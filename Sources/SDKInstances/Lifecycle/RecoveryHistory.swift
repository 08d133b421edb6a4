import DelegateBridge
import SDKProtocol

/// The history of a credential's renewals, by which they are spaced out in time.
struct RecoveryHistory: Sendable {
  /// The time at which the last renewal ended.
  var endedAt: Timestamp?
  /// The failure of the last renewal; `nil` after a success.
  @Rare var failure: SDKError? = nil
  /// The number of consecutive renewals that failed, at most 32. Refusals by the breaker do not count.
  var failures = 0
  /// The time at which this process first saw the credential.
  var since: Timestamp?
  /// Whether the last renewal signed a user in. An app's report against that credential is then followed up at once.
  var wasLogin = false
  /// The trigger of the next renewal, unless the input that begins it determines it.
  var trigger: EndedRenewal.Trigger?
  /// The time of the first request of the renewal in progress.
  var beganAt: Timestamp?
  /// The time of the last probe of a credential that an app reported.
  var probedAt: Timestamp?
  /// The typical time until the owner responds, including the wait for a provider slot.
  var answerTime = TypicalTime()
  /// The jitter of the next renewal, from 0 to 1. It is drawn once per renewal, so that planning again gives the same
  /// time.
  var random = 0.5

  /// The time at which the present credential was supplied by the owner; `nil` once its refusal has been counted.
  private var suppliedAt: Timestamp?
  /// The times of the last minute at which the vendor refused a credential that the owner had supplied.
  private var refusals: [Timestamp] = []

  /// Returns the history for a user who signs in now. It keeps the owner's typical response time and the jitter.
  func ofNextUser(_ now: Timestamp) -> RecoveryHistory {
    var next = RecoveryHistory()
    next.since = now
    next.answerTime = answerTime
    next.random = random
    return next
  }

  /// Whether an earlier renewal or probe may delay the next one.
  var hasThrottle: Bool { endedAt != nil || probedAt != nil }

  /// Records the end of a renewal.
  mutating func end(_ now: Timestamp, failure: SDKError?, random: Double) {
    endedAt = now
    self.failure = failure
    guard let failure else {
      failures = 0
      return
    }
    // A refusal by the breaker is not a further failure of the provider.
    if failure.reason != .providerBackoff { failures = min(failures + 1, 32) }
    self.random = random
  }

  /// Records that a credential of the owner was adopted.
  mutating func supplied(_ now: Timestamp) { suppliedAt = now }

  /// Returns whether the owner may be asked whether to continue after a refusal. This ends once the vendor has refused
  /// `limit` credentials within a minute that the owner supplied in that minute. A request without a response does not
  /// count, so a failing owner never signs the user out.
  ///
  /// - Parameter attempt: the number of the credential to request next in this renewal. The one before it was refused.
  mutating func mayConfirm(_ now: Timestamp, attempt: Int, atMost limit: Int) -> Bool {
    func isRecent(_ time: Timestamp) -> Bool { now - time < 60 && now >= time }
    refusals.removeAll { !isRecent($0) }
    if attempt > 1 || suppliedAt.map(isRecent) ?? false { refusals.append(now) }
    suppliedAt = nil
    return refusals.count < limit
  }

  /// Whether the follow-up of an app's report must wait: the last probe or renewal was less than `interval` seconds
  /// ago.
  func holdsBack(_ now: Timestamp, within interval: Double) -> Bool {
    !wasLogin && isRecent(now, within: interval) || probedAt.map { now - $0 < interval && now >= $0 } ?? false
  }

  /// The time until which the vendor asked for no further request when the last renewal failed; `nil` if it sent no
  /// `Retry-After`.
  var heldUntil: Timestamp? {
    guard let endedAt, let failure, failure.origin == .unreachable else { return nil }
    return failure.retryAfter.map { endedAt + $0 }
  }

  /// Returns the failure after which the vendor still wants no further request; `nil` if it may be asked.
  func hold(_ now: Timestamp) -> SDKError? {
    guard var failure, let endedAt, let heldUntil, now < heldUntil, now >= endedAt else { return nil }
    failure.retryAfter = heldUntil - now
    return failure
  }

  /// Whether the last renewal ended less than `interval` seconds ago.
  func isRecent(_ now: Timestamp, within interval: Double) -> Bool {
    endedAt.map { now - $0 < interval && now >= $0 } ?? false
  }
}
