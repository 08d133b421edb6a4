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

/// The member `error` of a response: `code:arguments:words`. Servers may leave parts out.
struct BayeuxError: Sendable, Hashable {
  /// The code of three digits.
  var code: String?
  /// The description, at most 512 bytes.
  var description: String

  /// Reads the error of an unsuccessful response.
  init(_ answer: JSON) {
    let text = (answer["error"]?.stringValue ?? "").clipped(toUTF8: 1024)
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    if let first = parts.first, first.utf8.count == 3, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      code = String(first)
      description = String(parts.count > 1 ? parts[parts.count - 1] : "").clipped(toUTF8: 512)
    } else {
      description = text.clipped(toUTF8: 512)
    }
  }

  /// Whether the server does not know the client id (Bayeux 1.0, 3.3: 401 without a client id, 402 for an unknown one;
  /// Faye sends 401 for both).
  var isUnknownClient: Bool { code == "401" || code == "402" }

  /// The code and the description in one line.
  var words: String { [code, description].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ") }
}
