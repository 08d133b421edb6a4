import Foundation
import JSONRPC

extension MessagingBackend {
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    try signingKeys.set(kid, to: secret)
  }

  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    try revocations.revoke(externalID, at: now)
  }

  var keys: JSON { signingKeys.tree }

  func errorBody(for status: Int) -> JSON {
    MessagingRefusal.standard(for: status).tree
  }

  /// Returns users, clients, sessions, merges and revocations, sorted by id so that two states can be compared.
  func state(baseURL: String) -> JSON {
    let users = users.values.sorted { $0.id < $1.id }
    return [
      "appId": .string(DemoAccounts.appID),
      "integrationId": .string(DemoAccounts.integrationID),
      "channelKey": .string(MessagingSettings.channelKey(baseURL: baseURL)),
      "users": .array(users.map(\.tree)),
      "clients": .array(clients.values.sorted { $0.id < $1.id }.map(\.tree)),
      "sessions": .array(
        users.flatMap { user in
          ([user.sessionToken].compactMap { $0 } + user.furtherSessions).map {
            ["appUserId": .string(user.id), "sessionToken": .string($0)]
          }
        }),
      "subscriptions": .array(
        bayeux.sorted { $0.key < $1.key }.flatMap { id, client in
          client.subscriptions.sorted { $0.key < $1.key }.map { channel, user in
            [
              "clientId": .string(id), "socket": .number(Double(client.socket)), "channel": .string(channel),
              "appUserId": .string(user),
            ]
          }
        }),
      "endedSessions": .array(endedSessions.map { .string($0) }),
      "merges": .array(merges.map { ["from": .string($0.from), "to": .string($0.to)] }),
      "revocations": revocations.tree,
    ]
  }
}

/// The JWTs that the customer's server issues.
extension MessagingBackend {
  static var mintsTokens: Bool { true }

  static func mint(_ request: MintRequest) throws(MintMistake) -> String {
    try request.check("kid", "secret", "name", "email", "scope")
    let kid = request.options["kid"] ?? DemoAccounts.kid
    guard let secret = request.options["secret"] ?? DemoAccounts.keys[kid] else {
      throw MintMistake(message: "\(kid) is no demo key: give its --secret or --secret-file.")
    }
    var token = DemoToken(externalID: request.user, kid: kid, secret: secret, issuedAt: request.issuedAt)
    token.lifetime = request.lifetime
    token.scope = request.options["scope"] ?? "user"
    token.name = request.claim("name")
    token.email = request.claim("email")
    return token.text
  }
}
