import Foundation
import JSONRPC

extension SalesforceBackend {
  /// Creates the connected app whose client id is `kid`, or changes its secret. With `nil` removes the app.
  mutating func setKey(_ kid: String, to secret: String?) throws(ControlMistake) {
    guard let secret else {
      clients.removeValue(forKey: kid)
      return
    }
    guard clients[kid] != nil || clients.count < SandboxLimits.record else {
      throw ControlMistake("kid", "at most \(SandboxLimits.record) connected apps")
    }
    clients[kid, default: SalesforceClient()].secret = secret
  }

  /// Ends the user's grants and revokes all their tokens.
  mutating func revokeTokens(of externalID: String, at now: Date) throws(ControlMistake) {
    for id in grantIDs(of: externalID) { end(id, because: "revoked by /_revoke") }
  }

  /// Revokes the user's access tokens (`access`), or ends the grants and keeps the access tokens (`refresh`).
  mutating func revokeTokens(of externalID: String, kind: String, at now: Date) throws(ControlMistake) {
    let ids = Set(grantIDs(of: externalID))
    switch kind {
    case "access": accessTokens.change { if ids.contains($0.grant) { $0.isRevoked = true } }
    case "refresh":
      for id in ids {
        grants[id]?.ended = "revoked by /_revoke"
        grants[id]?.refreshToken = nil
      }
    default: throw ControlMistake("kind", "must be access or refresh; leave it out for both")
    }
  }

  mutating func setOptions(_ members: ControlMembers) throws(ControlMistake) {
    try settings.set(members)
  }

  var options: JSON { settings.tree }

  /// Handles `POST /_grant`: returns the token response that a login in the browser would have produced.
  mutating func control(_ name: String, _ call: ControlCall) throws(ControlMistake) -> JSON {
    let members = try ControlMembers(
      call.body, known: ["user", "client_id", "rotating", "ttl", "refreshable", "community"])
    let user = try members.requiredText("user")
    let clientID = try members.text("client_id") ?? DemoAccounts.salesforceClientID
    guard let client = clients[clientID] else { throw ControlMistake("client_id", "no such connected app") }
    let rotates = try members.optionalFlag("rotating") ?? client.rotates
    let ttl = try members.number("ttl", in: SalesforceOptions.lifetimes) ?? 7_200
    let refreshable = try members.optionalFlag("refreshable") ?? true
    let community = try members.flag("community")
    let grant = makeGrant(user: user, clientID: clientID, rotates: rotates, ttl: ttl, refreshable: refreshable)
    let answer = tokenAnswer(for: grant, refreshToken: grant.refreshToken, now: call.now, baseURL: call.baseURL)
    var tokens = answer.members ?? [:]
    tokens["client_id"] = .string(clientID)
    if community {
      tokens["sfdc_community_url"] = .string("\(call.baseURL)/communities/support")
      tokens["sfdc_community_id"] = "0DBsandbox00000001"
    }
    return .object(tokens)
  }

  var keys: JSON {
    [
      "clients": .array(
        clients.sorted { $0.key < $1.key }.map {
          .of([
            "clientId": .string($0.key), "secret": .optional($0.value.secret), "rotating": .bool($0.value.rotates),
          ])
        }),
      "organizationId": .string(DemoAccounts.salesforceOrganizationID),
    ]
  }

  func errorBody(for status: Int) -> JSON {
    JSON(parsing: SalesforceRefusal.standard(for: status, path: []).response.body) ?? .null
  }

  func errorResponse(for status: Int, path: [String]) -> SandboxResponse {
    SalesforceRefusal.standard(for: status, path: path).response
  }

  /// Returns the grants, access tokens, revocations and devices, oldest first.
  func state(baseURL: String) -> JSON {
    [
      "grants": .array(grants.entries.map { $0.value.tree }),
      "accessTokens": .array(
        accessTokens.entries.map { key, access in
          .of([
            "accessToken": .string(key), "grant": .string(access.grant),
            "user": .optional(grants[access.grant]?.user),
            "expiresAt": .number(access.expires.timeIntervalSince1970), "instance": .optional(access.instance),
            "revoked": .bool(access.isRevoked),
          ])
        }),
      "revocations": .array(revocations.map { $0.tree }),
      "devices": .array(devices.entries.map { $0.value.tree }),
    ]
  }

  private func grantIDs(of user: String) -> [String] {
    grants.entries.filter { $0.value.user == user }.map { $0.key }
  }
}
