import Foundation
import JSONRPC

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
  /// The maximum number of channels that a client may subscribe to.
  static let channels = 100

  /// The maximum number of remembered clients without a socket, and of messages stored for each.
  static let lost = (clients: 100, messages: 50)

  static let retry: JSON = ["reconnect": "retry", "interval": 0, "timeout": .number(Double(timeout))]
  static let handshakeAgain: JSON = ["reconnect": "handshake", "interval": 0]
}

/// A client whose socket has closed. When it returns on another socket it receives the messages published meanwhile.
struct LostBayeuxClient: Sendable {
  let id: String
  var client: BayeuxClient
  var messages: [JSON] = []
}

/// A reply to one Bayeux message, with the message's channel, id, client id and subscription.
struct BayeuxReply {
  var members: [String: JSON]

  init(to message: JSON, _ more: [String: JSON] = [:]) {
    members = more
    members["channel"] = message["channel"] ?? .null
    members["successful"] = true
    for name in ["id", "clientId", "subscription"] where members[name] == nil { members[name] = message.given(name) }
  }

  /// Returns an error reply. `error` has Bayeux's form `code:arguments:text`.
  static func failed(_ message: JSON, _ error: String, advice: JSON? = nil) -> JSON {
    var reply = BayeuxReply(to: message, ["error": .string(error)])
    reply.members["successful"] = false
    reply.members["advice"] = advice
    return reply.tree
  }

  var tree: JSON { .object(members) }
}

/// An error response to a Bayeux message.
struct BayeuxRefusal: Error {
  /// The error in Bayeux's form `code:arguments:text`.
  let text: String
  /// The reason, which only the log shows.
  let note: String
  let advice: JSON?

  init(_ text: String, note: String? = nil, advice: JSON? = nil) {
    self.text = text
    self.note = note ?? text
    self.advice = advice
  }
}
