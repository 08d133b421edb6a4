import Foundation
import JSONRPC

extension InAppBackend {
  /// Adds a key to the keyset: a public RSA key in PEM. With `nil` removes it.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    guard let secret else {
      keyset[kid] = nil
      return
    }
    guard RSASignature.isPublicKey(secret) else { throw ControlMistake("secret", "must be a public RSA key in PEM") }
    guard keyset[kid] != nil || keyset.count < SandboxLimits.record else {
      throw ControlMistake("kid", "at most \(SandboxLimits.record) keys")
    }
    keyset[kid] = secret
  }

  /// Revokes the user's access tokens.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    accessTokens.change { if $0.subject.hasSuffix("uid:\(externalID)") { $0.isRevoked = true } }
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) { try settings.set(members) }

  var options: JSON { settings.tree }

  var keys: JSON {
    [
      "issuer": .string(DemoAccounts.inAppIssuer),
      "keyset": .array(
        keyset.sorted { $0.key < $1.key }.map { ["kid": .string($0.key), "publicKey": .string($0.value)] }),
    ]
  }

  func errorBody(for status: Int) -> JSON { InAppRefusal.standard(for: status).tree }

  /// Returns the access tokens and conversations, oldest first.
  func state(baseURL: String) -> JSON {
    [
      "accessTokens": .array(
        accessTokens.entries.map { key, access in
          [
            "accessToken": .string(key), "subject": .string(access.subject), "deployment": .string(access.deployment),
            "expiresAt": .number(access.expires.timeIntervalSince1970), "revoked": .bool(access.isRevoked),
            "continuation": .bool(access.isContinuation),
          ]
        }),
      "conversations": .array(
        conversations.entries.map { ["conversationId": .string($0.key), "owner": .string($0.value.owner)] }),
      "guests": .number(Double(guests)),
    ]
  }
}

/// The options of the in-app messaging backend (`POST /_options`), for behaviour that a scripted response can't
/// produce.
struct InAppOptions: Sendable {
  /// The lifetime of access tokens in seconds.
  var ttl: Double = 3_600
  /// Whether each exchange is answered with a guest's token, as the vendor does for some JWTs it can't verify.
  var answersGuest = false
  /// Whether the channel has no active user verification.
  var isWithoutSchemes = false
  /// The user that access tokens are issued for; `nil` for the JWT's.
  var subject: String?
  /// The access token of each exchange; `nil` for a new one.
  var accessToken: String?
  /// The id of the last event in the answers of exchanges.
  var lastEventID = 0

  static let names = ["accessToken", "guest", "lastEventId", "noActiveSchemes", "subject", "ttl"]

  mutating func set(_ members: ControlMembers) throws(ControlMistake) {
    var new = self
    let standard = InAppOptions()
    if members.has("ttl") { new.ttl = try members.number("ttl", in: -1e6...1e9) ?? standard.ttl }
    if members.has("guest") { new.answersGuest = try members.flag("guest") }
    if members.has("noActiveSchemes") { new.isWithoutSchemes = try members.flag("noActiveSchemes") }
    if members.has("subject") { new.subject = try members.text("subject") }
    if members.has("accessToken") { new.accessToken = members.value("accessToken")?.stringValue }
    if members.has("lastEventId") {
      new.lastEventID = try members.integer("lastEventId", in: 0...1_000_000_000) ?? standard.lastEventID
    }
    self = new
  }

  var tree: JSON {
    [
      "ttl": .number(ttl), "guest": .bool(answersGuest), "noActiveSchemes": .bool(isWithoutSchemes),
      "subject": .optional(subject) ?? .null, "accessToken": .optional(accessToken) ?? .null,
      "lastEventId": .number(Double(lastEventID)),
    ]
  }
}
