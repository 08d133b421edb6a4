import JSONRPC

/// The advice of a Bayeux server on reconnecting, within our limits.
struct BayeuxAdvice: Sendable, Hashable {
  /// The steps that a server can advise after a failure.
  enum Reconnect: String, Sendable {
    /// Reconnect with the same client id.
    case retry
    /// Start again with a new handshake.
    case handshake
    /// Don't reconnect.
    case none
  }

  /// The advised step after a failure.
  private(set) var reconnect = Reconnect.retry
  /// The seconds between an answer to `/meta/connect` and the next request; 0 to 60.
  private(set) var interval = 0.0
  /// The seconds for which the server may hold `/meta/connect`; 1 to 300.
  private(set) var timeout = 45.0

  /// Updates the advice. Values that are absent or invalid stay as they were.
  mutating func update(_ advice: JSON?) {
    guard let advice else { return }
    if let text = advice["reconnect"]?.stringValue, let known = Reconnect(rawValue: text) { reconnect = known }
    if let milliseconds = advice["interval"]?.doubleValue { interval = min(max(milliseconds / 1000, 0), 60) }
    if let milliseconds = advice["timeout"]?.doubleValue { timeout = min(max(milliseconds / 1000, 1), 300) }
  }

  /// Resets `reconnect` for a new handshake, which the advice for the former client does not concern.
  mutating func forgetReconnect() { reconnect = .retry }
}
