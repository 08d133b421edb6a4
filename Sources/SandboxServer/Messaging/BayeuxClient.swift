import Foundation

/// A client of the realtime socket, from its `/meta/handshake` until its socket closes.
struct BayeuxClient: Sendable {
  var socket: Int
  /// The subscribed users by channel.
  var subscriptions: [String: String] = [:]
  /// Whether a `/meta/connect` has arrived: the first is answered at once, later ones are held.
  var hasConnected = false
  /// The time by the sandbox's clock at which the held `/meta/connect` is answered.
  var heldUntil = Date.distantPast

  /// The time for which a `/meta/connect` is held, in milliseconds.
  static let timeout = 25_000
  /// The number of channels that a client may subscribe to.
  static let channels = 100

  /// The number of remembered clients without a socket, and of messages stored for each.
  static let lost = (clients: 100, messages: 50)

  static let retry: JSONTree = ["reconnect": "retry", "interval": 0, "timeout": .number(Double(timeout))]
  static let handshakeAgain: JSONTree = ["reconnect": "handshake", "interval": 0]
}

/// A client whose socket has closed. When it returns on another socket it receives the messages published meanwhile.
struct LostBayeuxClient: Sendable {
  let id: String
  var client: BayeuxClient
  var messages: [JSONTree] = []
}
