import Foundation
import JSONRPC

extension ChatBackend {
  /// Sets the shared secret of the account `kid`, creating the account if needed, and revokes the account's id tokens.
  ///
  /// With `nil` the account has no secret afterwards.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    guard accounts.keys.contains(kid) || accounts.count < SandboxLimits.record else {
      throw ControlMistake("kid", "at most \(SandboxLimits.record) accounts")
    }
    accounts.updateValue(secret, forKey: kid)
    revoke { $0.accountKey == kid }
  }

  /// Revokes the visitor's id tokens. The next exchange issues a valid one.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    revoke { $0.externalID == externalID }
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) {
    try settings.set(members)
  }

  var options: JSON { settings.tree }

  /// Handles `POST /_ban`: drops a visitor now and at each later registration. `banned: false` lifts the ban.
  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(call.body, known: ["externalId", "mid", "banned"])
    let externalID = try members.text("externalId")
    let machine = try members.text("mid")
    let banned = try members.optionalFlag("banned") ?? true
    guard externalID != nil || machine != nil else {
      throw ControlMistake(nil, "externalId or mid must be given")
    }
    guard !banned || bannedExternalIDs.count + bannedMachines.count < SandboxLimits.record else {
      throw ControlMistake(nil, "at most \(SandboxLimits.record) can be banned")
    }
    if let externalID { Self.set(externalID, in: &bannedExternalIDs, banned) }
    if let machine { Self.set(machine, in: &bannedMachines, banned) }
    dropBanned(now: call.now)
    return ["banned": bans]
  }

  var keys: JSON {
    [
      "accounts": .array(
        accounts.sorted { $0.key < $1.key }.map {
          .of(["accountKey": .string($0.key), "secret": .optional($0.value)])
        })
    ]
  }

  func errorBody(for status: Int) -> JSON {
    ChatRefusal.standard(for: status).tree
  }

  /// Returns the visitors, id tokens, bans and registrations.
  func state(baseURL: String) -> JSON {
    let visitors = self.visitors
    return [
      "visitors": .array(visitors.values.sorted { $0.id < $1.id }.map { $0.tree }),
      "idTokens": .array(
        idTokens.entries.map { key, token in
          .of([
            "idToken": .string(key), "externalId": .optional(visitors[token.visitor]?.externalID),
            "expiresAt": .number(token.expires.timeIntervalSince1970), "revoked": .bool(token.isRevoked),
          ])
        }),
      "banned": bans,
      "registrations": .array(registrations.map { $0.tree }),
    ]
  }

  private var bans: JSON {
    [
      "externalIds": .array(bannedExternalIDs.sorted().map { .string($0) }),
      "mids": .array(bannedMachines.sorted().map { .string($0) }),
    ]
  }

  private static func set(_ name: String, in names: inout Set<String>, _ banned: Bool) {
    if banned { names.insert(name) } else { names.remove(name) }
  }

  private mutating func revoke(_ isMeant: (ChatVisitor) -> Bool) {
    let meant = Set(visitors.values.filter(isMeant).map { $0.id })
    idTokens.change { if meant.contains($0.visitor) { $0.isRevoked = true } }
  }
}

/// The JWTs that the customer's server issues.
extension ChatBackend {
  static var mintsTokens: Bool { true }

  static func mint(_ request: MintRequest) throws(MintMistake) -> String {
    try request.check("secret", "name", "email")
    var token = DemoChatToken(
      externalID: request.user, secret: request.options["secret"] ?? DemoAccounts.chatSecret,
      issuedAt: request.issuedAt)
    token.lifetime = request.lifetime
    token.name = request.claim("name", otherwise: token.name)
    token.email = request.claim("email", otherwise: token.email)
    return token.text
  }
}
