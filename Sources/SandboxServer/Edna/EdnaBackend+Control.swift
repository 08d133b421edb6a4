import Foundation
import JSONRPC

extension EdnaBackend {
  func errorBody(for status: Int) -> JSON { EdnaRefusal.standard(for: status).tree }

  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    throw ControlMistake("sdk", "\(Self.prefix) has one fixed key pair; POST /_tokens registers tokens")
  }

  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    tokens.revoke(of: externalID)
  }

  var keys: JSON {
    ["providerUid": .string(DemoAccounts.providerUID), "publicKey": .string(DemoAccounts.identifierPublicKey)]
  }

  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    name == "_tokens" ? try registerToken(call) : try pushUnauthorized(call)
  }

  /// Registers the token of `{"token", "clientId"?, "expiresIn"?}`.
  ///
  /// `expiresIn` is in seconds from now. Without `clientId` every client may use the token.
  private mutating func registerToken(_ call: ControlCall) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(call.body, known: ["token", "clientId", "expiresIn"])
    let token = try members.requiredText("token")
    let lifetime = try members.number("expiresIn", in: -1e9...1e9)
    try tokens.register(token, of: try members.text("clientId"), lifetime: lifetime, at: call.now)
    return ["tokens": tokens.tree]
  }

  /// Sends `UNAUTHORIZED` to the open sockets of the client in `{"clientId", "details"}`. Revokes no token.
  private mutating func pushUnauthorized(_ call: ControlCall) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(call.body, known: ["clientId", "details"])
    let told = sockets(of: try members.requiredText("clientId")).sorted()
    let details = try members.text("details") ?? "expired"
    guard ["expired", "invalid"].contains(details) else {
      throw ControlMistake("details", "must be expired or invalid")
    }
    let refusal = EdnaRefusal.unauthorized(details, "")
    for socket in told { outbox.append(.send(["action": "getMessages", "data": refusal.tree], to: socket)) }
    return ["sockets": .array(told.map { .number(Double($0)) })]
  }

  /// Returns the users, devices, sessions, `CLIENT_OFFLINE` messages and tokens.
  func state(baseURL: String) -> JSON {
    let online = Set(sessions.values.filter { $0.step == .informed }.map(\.user))
    return [
      "providerUid": .string(DemoAccounts.providerUID),
      "users": .array(users.values.sorted { $0.id < $1.id }.map { $0.tree(isOnline: online.contains($0.id)) }),
      "devices": .array(devices.values.sorted { $0.address < $1.address }.map(\.tree)),
      "sessions": .array(sessions.sorted { $0.key < $1.key }.map { $1.tree($0) }),
      "offline": .array(offline),
      "tokens": tokens.tree,
    ]
  }
}
