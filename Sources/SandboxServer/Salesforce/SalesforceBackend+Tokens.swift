import Foundation
import JSONRPC

extension SalesforceBackend {
  /// Handles `POST /services/oauth2/token`: issues an access token, and a new refresh token if they rotate.
  ///
  /// With rotation the refresh token that was sent is then spent, whether or not the response arrives.
  mutating func refresh(_ call: BackendCall) throws(SalesforceRefusal) -> JSON {
    guard let form = call.form else { throw .oauth("invalid_request", "the body must be a form", "no form") }
    guard ["refresh_token", "hybrid_refresh"].contains(form["grant_type"]) else {
      throw .oauth(
        "unsupported_grant_type", "grant type not supported", "grant_type \(form["grant_type"] ?? "missing")")
    }
    let clientID = try checkedClient(form)
    guard let token = form["refresh_token"], !token.isEmpty else {
      throw .oauth("invalid_request", "must supply refresh_token", "no refresh_token")
    }
    guard let id = refreshTokens[token], var grant = grants[id], grant.clientID == clientID else {
      throw .invalidGrant("unknown refresh token, or another client's")
    }
    if let ended = grant.ended { throw .invalidGrant("the grant has ended: \(ended)") }
    guard token == grant.refreshToken else {
      grant.spentUses += 1
      grants[id] = grant
      throw .invalidGrant("the refresh token was spent by an earlier refresh")
    }
    grant.refreshes += 1
    var rotated: String?
    if settings.rotating ?? grant.rotates {
      rotated = newRefreshToken(of: id)
      grant.refreshToken = rotated
    }
    grants[id] = grant
    let answer = tokenAnswer(for: grant, refreshToken: rotated, now: call.now, baseURL: call.baseURL)
    let members = (answer.members ?? [:]).merging(settings.answer) { _, replaced in replaced }
    return .object(members.filter { $0.value != .null })
  }

  /// Creates a grant, as a user's approval would. Ends the user's oldest grant if there are too many.
  mutating func makeGrant(
    user: String, clientID: String, rotates: Bool, ttl: Double, refreshable: Bool
  ) -> SalesforceGrant {
    let id = Self.random("grant_")
    let grant = SalesforceGrant(
      id: id, user: user, clientID: clientID, rotates: rotates, ttl: ttl,
      refreshToken: refreshable ? newRefreshToken(of: id) : nil)
    let live = grants.entries.filter {
      $0.value.user == user && $0.value.clientID == clientID && $0.value.refreshToken != nil
    }
    if refreshable, live.count >= Self.grantsPerUser, let oldest = live.first?.key {
      end(oldest, because: "a newer approval than the \(Self.grantsPerUser) that a user may have")
    }
    grants[id] = grant
    return grant
  }

  /// Issues an access token of the grant and returns `{access_token, instance_url, id, …}`.
  mutating func tokenAnswer(
    for grant: SalesforceGrant, refreshToken: String?, now: Date, baseURL: String
  ) -> JSON {
    let access = "\(DemoAccounts.salesforceOrganizationID)!\(Self.random("AQ"))"
    let instance = settings.instance
    accessTokens[access] = .init(
      grant: grant.id, expires: now.addingTimeInterval(settings.ttl ?? grant.ttl), instance: instance)
    let identity = Self.identityURL(of: grant.user, baseURL: baseURL)
    let issued = String(Int(now.timeIntervalSince1970 * 1_000))
    let signature = HS256.signature(of: identity + issued, secret: clients[grant.clientID]?.secret ?? "none")
    return .of([
      "access_token": .string(access),
      "refresh_token": .optional(refreshToken),
      "instance_url": .string(instance.map { "\(baseURL)/instances/\($0)" } ?? baseURL),
      "id": .string(identity),
      "issued_at": .string(issued),
      "signature": .string(signature.base64EncodedString()),
      "token_type": "Bearer",
      "scope": "refresh_token api id",
    ])
  }

  /// Handles `POST /services/oauth2/revoke`: ends the grant of a refresh token, or revokes the single access token.
  mutating func revoke(_ call: BackendCall) throws(SalesforceRefusal) {
    let form = call.method == "GET" ? call.query : call.form
    guard let form, let token = form["token"], !token.isEmpty else {
      throw .oauth("invalid_request", "must supply token", "no form, or no token in it")
    }
    var kind: String?
    let access = accessTokens[token]
    let grant = refreshTokens[token] ?? access?.grant
    if let grant, grants[grant]?.refreshToken == token {
      kind = "refresh"
      end(grant, because: "revoked by the client")
    } else if let access, !access.isRevoked, access.expires > call.now {
      kind = "access"
      accessTokens[token]?.isRevoked = true
    }
    revocations.append(
      .init(
        time: call.now.timeIntervalSince1970, token: token, kind: kind, grant: grant, reason: form["revoke_reason"]))
    if revocations.count > SandboxLimits.record { revocations.removeFirst() }
    if kind == nil { throw .oauth("invalid_token", "invalid token", "unknown, spent, expired or revoked") }
  }

  /// Ends the grant and revokes its access tokens.
  mutating func end(_ id: String, because reason: String) {
    grants[id]?.ended = reason
    grants[id]?.refreshToken = nil
    accessTokens.change { if $0.grant == id { $0.isRevoked = true } }
  }

  private func checkedClient(_ form: [String: String]) throws(SalesforceRefusal) -> String {
    guard let id = form["client_id"], let client = clients[id] else {
      throw .oauth("invalid_client_id", "client identifier invalid", "client_id \(form["client_id"] ?? "missing")")
    }
    guard form["client_secret"] == client.secret else {
      throw .oauth("invalid_client", "invalid client credentials", "client_secret missing, wrong or not wanted")
    }
    return id
  }

  private mutating func newRefreshToken(of grant: String) -> String {
    let token = Self.random("5Aep861")
    refreshTokens[token] = grant
    return token
  }

  static func random(_ start: String) -> String {
    start + UUID().uuidString.lowercased().replacing("-", with: "")
  }
}
