import Foundation
import JSONRPC

extension SupportBackend {
  /// The names of the secrets in `/_keys`: the vendor's and the customer's side of the same secret.
  private static let secrets = ["vendor", "customer"]

  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    guard Self.secrets.contains(kid) else { throw ControlMistake("kid", "must be vendor or customer") }
    let secret = secret ?? DemoAccounts.supportSecret
    if kid == "vendor" { vendorSecret = secret } else { customerSecret = secret }
  }

  /// Revokes the user's access tokens. The next exchange issues a valid one.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    let named = Set(users.values.filter { $0.isNamed(externalID) }.map { $0.identity })
    tokens.change { if named.contains($0.identity) { $0.isRevoked = true } }
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) {
    try settings.set(members)
  }

  var options: JSON { settings.tree }

  var keys: JSON {
    [
      "vendor": .string(vendorSecret), "customer": .string(customerSecret),
      "apps": .array(
        Self.clients.sorted { $0.key < $1.key }.map {
          [
            "appId": .string($0.key), "clientId": .string($0.value),
            "authentication": .string(authentication(of: $0.value).rawValue),
          ]
        }),
      "agent": .string(DemoAccounts.supportAgent),
    ]
  }

  func errorBody(for status: Int) -> JSON {
    SupportRefusal.standard(for: status).tree
  }

  /// Returns the users, access tokens, devices and requests to the customer's endpoint.
  func state(baseURL: String) -> JSON {
    [
      "users": .array(users.values.sorted { $0.id < $1.id }.map { $0.stateTree }),
      "accessTokens": .array(
        tokens.entries.map { key, token in
          .of([
            "accessToken": .string(key), "userId": users[token.identity].map { .number(Double($0.id)) },
            "revoked": .bool(token.isRevoked),
          ])
        }),
      "devices": .array(devices.entries.map { $0.value.stateTree }),
      "customerCalls": .array(
        customerCalls.map { ["userToken": .string($0.token), "status": .number(Double($0.status))] }),
    ]
  }
}
