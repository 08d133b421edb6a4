import Foundation
import JSONRPC

/// The vendor's side of `edna.chatcenter` as the vendor's mobile SDK sees it: configuration and history over HTTP,
/// everything else over the WebSocket.
struct EdnaBackend: SandboxBackend {
  static let prefix = "ed"
  static let controls = ["_tokens", "_unauthorized"]

  var tokens = EdnaTokens()
  /// The users by plain client id.
  var users: [String: EdnaUser] = [:]
  /// The devices by device address.
  var devices: [String: EdnaDevice] = [:]
  /// The sessions by socket number.
  var sessions: [Int: EdnaSession] = [:]
  /// The received `CLIENT_OFFLINE` messages, oldest first.
  var offline: [JSON] = []
  var outbox: [SocketAction] = []

  mutating func respond(to call: BackendCall) -> SandboxResponse {
    do throws(EdnaRefusal) {
      switch call.path {
      case ["api", "chat", "config"]:
        try Self.only("GET", call)
        try authorize(call, mayLackAddress: true)
        return SandboxResponse(200, json: Self.config)
      case ["api", "client", "history"]:
        try Self.only("GET", call)
        try authorize(call, mayLackAddress: false)
        return SandboxResponse(200, json: Self.history)
      default: throw .notFound("no such route")
      }
    } catch {
      return error.response
    }
  }

  private static func only(_ method: String, _ call: BackendCall) throws(EdnaRefusal) {
    guard call.method == method else {
      throw EdnaRefusal(
        status: 405, error: "METHOD_NOT_ALLOWED", details: "", note: "only \(method) is known here")
    }
  }

  private static let config: JSON = [
    "settings": [
      "pingEnabled": true, "pingIntervalMillis": 10_000, "pingRetries": 3, "retryIntervalMillis": 1_000,
      "retryMultiplier": 2, "messageRetryCount": 3,
    ],
    "schedule": ["active": true, "intervals": []],
    "scenario": [:],
  ]

  private static let history: JSON = [
    "messages": [], "agentInfo": ["agent": .null, "startDate": .null], "allowedToSendMessages": true,
  ]

  /// Records the identifier and credentials of a user, creating the user if needed.
  mutating func note(_ identifier: EdnaIdentifier, _ credentials: EdnaCredentials) throws(EdnaRefusal) {
    guard users[identifier.plain] != nil || users.count < SandboxLimits.users else { throw .full("users") }
    var user = users[identifier.plain] ?? EdnaUser(id: identifier.plain, identifier: identifier)
    user.identifier = identifier
    user.credentials = credentials.tree
    users[user.id] = user
  }
}
