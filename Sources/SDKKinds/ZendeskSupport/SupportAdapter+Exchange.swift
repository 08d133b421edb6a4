import JSONRPC
import SDKInstances
import SDKProtocol

extension SupportAdapter {
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    var accepted = try await exchange(credential.details, hints: credential.hints, from: identity)
    guard isSameUser(credential, as: identity) != true else {
      try checkUser(accepted, isThatOf: identity)
      return accepted
    }
    accepted.events = [.identityChanged]
    return accepted
  }

  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    try await renewed(identity.kindState, hints: [], of: identity)
  }

  func renew(
    with credential: CheckedCredential, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    try await renewed(credential.details, hints: credential.hints, of: identity)
  }

  private func renewed(
    _ state: [String: Secret], hints: [String], of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    var accepted = try await exchange(state, hints: hints, from: identity)
    try checkUser(accepted, isThatOf: identity)
    accepted.user.since = identity.user.since
    return accepted
  }

  /// Checks that a renewal of a jwt identity does not switch users. The customer may have given the unique id to
  /// another user, whose data must not be shown. A guid belongs to one identity, so another user of it can only be a
  /// merge at the vendor.
  private func checkUser(_ accepted: SignedIn, isThatOf identity: IdentityRecord) throws(SDKError) {
    guard SupportIdentity(accepted.kindState)?.type == .jwt, let known = identity.user.id, known != accepted.user.id
    else { return }
    throw SDKError(
      .provider, .providerTokenForOtherUser,
      "The unique id stands for another user than before; a renewal never switches users. Clear the identity first.")
  }

  /// Exchanges an identity for an access token.
  private func exchange(
    _ state: [String: Secret], hints: [String], from identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    guard let who = SupportIdentity(state), let guid = state[SupportIdentity.guidKey] else {
      throw SDKError(.state, .noIdentity, "No identity is set; set one first.")
    }
    try checkPersonalData(of: who)
    let expected = try await account.authentication(identity, wanted: who.type, at: place)
    guard expected == who.type else {
      throw SDKError(
        .state, .identityMismatch,
        "The account wants \(expected.rawValue) identities and this one is \(who.type.rawValue); set one of the other"
          + " type, or the setting authentication if the account has changed.", member: "identity.type")
    }
    var user: JSONObject = [:]
    switch who.type {
    case .anonymous:
      user["sdk_guid"] = .string(guid.reveal())
      user["name"] = who.name.map(JSON.string)
      user["email"] = who.email.map(JSON.string)
    case .jwt:
      guard let id = who.uniqueId else {
        throw SDKError(.state, .noIdentity, "The unique id is still to be supplied; set the identity again.")
      }
      user["token"] = .string(id.reveal())
    }
    let answer = await wire.exchange(
      "/access/sdk/\(who.type.rawValue)", body: ["user": .object(user)], secrets: who.uniqueId.map { [$0] } ?? [],
      guid: guid, to: place)
    var hints = hints
    if case .unauthorized = answer, let now = await account.authentication(afterRefusalAt: place), now != who.type {
      hints.append("identity.type: the account takes \(now.rawValue) identities now")
    }
    let access = try SupportAccess(answer, type: who.type, hints: hints)
    var kept = who.state(guid: guid)
    kept[SupportIdentity.authenticationKey] = account.remembered(identity).map { Secret($0.rawValue) }
    return SignedIn(
      user: User(
        id: access.userId, name: who.name, email: who.email, authenticationType: .custom, authenticated: true,
        verified: who.type == .jwt, since: clock.now()),
      credential: Credential(token: access.token, type: .accessToken, obtainedAt: clock.now(), expiresAt: nil),
      kindState: kept)
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    let answer = await wire.send(
      "GET", "/api/mobile/users/me.json", token: credential.token, guid: identity.kindState[SupportIdentity.guidKey],
      to: place)
    switch answer {
    case .accepted: return nil
    case .unauthorized:
      try SupportAccess.accept(answer)
      return nil
    case .forbidden, .notFound:
      // 403 and 404 concern the resource, not the token.
      throw SDKError(.unreachable, .badResponse, "Zendesk Support does not tell who the user is; check base_url.")
    case .unusable(let error): throw error
    }
  }

  /// Does nothing: the vendor has no such call. An access token ends when the vendor decides.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {}
}
