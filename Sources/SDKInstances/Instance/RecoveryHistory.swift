import SDKProtocol

/// When the credential was renewed before and how that ended: what keeps renewals apart.
struct RecoveryHistory: Sendable {
  /// When the last renewal ended.
  var endedAt: Timestamp?
  /// How it ended; `nil` for well.
  var failure: SDKError?
  /// When it began.
  var beganAt: Timestamp?
  /// How long the provider took the last time it answered, in seconds.
  var lead = 0.0
  /// The jitter of the credential at hand: drawn once, or the plan would move with each look.
  var random = 0.5

  /// Whether the last renewal ended less than `interval` seconds ago.
  func isRecent(_ now: Timestamp, within interval: Double) -> Bool {
    endedAt.map { now - $0 < interval && now >= $0 } ?? false
  }
}
