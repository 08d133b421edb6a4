import Foundation

/// A client of the realtime socket: what `/meta/handshake` made, until its socket is gone.
struct BayeuxClient: Sendable {
  var socket: Int
  /// The users it has subscribed to, by channel.
  var subscriptions: [String: String] = [:]
  /// The first `/meta/connect` is answered at once, later ones are held.
  var hasConnected = false
  /// When the `/meta/connect` that is held will have been answered, by the sandbox's clock.
  var heldUntil = Date.distantPast

  /// How long a `/meta/connect` is held, in milliseconds.
  static let timeout = 25_000
  /// How many channels a client may subscribe to.
  static let channels = 100

  /// How many clients without a socket are remembered, and how many messages for each.
  static let lost = (clients: 100, messages: 50)

  static let retry: JSONTree = ["reconnect": "retry", "interval": 0, "timeout": .number(Double(timeout))]
  static let handshakeAgain: JSONTree = ["reconnect": "handshake", "interval": 0]
}

/// A client whose socket is gone: it may come back on another one and gets what was published meanwhile.
struct LostBayeuxClient: Sendable {
  let id: String
  var client: BayeuxClient
  var messages: [JSONTree] = []
}
