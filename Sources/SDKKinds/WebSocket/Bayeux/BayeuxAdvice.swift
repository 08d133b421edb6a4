import JSONRPC

/// What a Bayeux server advises on reconnecting, within our bounds.
struct BayeuxAdvice: Sendable, Hashable {
  /// What to do after a failure.
  enum Reconnect: String, Sendable {
    /// Connect again with the same client id.
    case retry
    /// Begin with a new handshake.
    case handshake
    /// Don't come back.
    case none
  }

  /// What to do after a failure.
  private(set) var reconnect = Reconnect.retry
  /// Seconds between an answer to `/meta/connect` and the next request; 0 to 60.
  private(set) var interval = 0.0
  /// Seconds for which the server may hold `/meta/connect`; 1 to 300.
  private(set) var timeout = 45.0

  /// Takes over what an `advice` says; what it leaves out or says wrong stays as it was.
  mutating func update(_ advice: JSON?) {
    guard let advice else { return }
    if let text = advice["reconnect"]?.stringValue, let known = Reconnect(rawValue: text) { reconnect = known }
    if let milliseconds = advice["interval"]?.doubleValue { interval = min(max(milliseconds / 1000, 0), 60) }
    if let milliseconds = advice["timeout"]?.doubleValue { timeout = min(max(milliseconds / 1000, 1), 300) }
  }

  /// For a new handshake, which begins without the old client's troubles.
  mutating func forgetReconnect() { reconnect = .retry }
}
