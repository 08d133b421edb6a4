import JSONRPC
import SDKInstances
import SDKProtocol

extension MessagingInAppAdapter {
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    try await signedIn(credential, of: identity, isRenewal: false)
  }

  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    try await signedIn(credential, of: identity, isRenewal: true)
  }

  /// Renews a guest, or exchanges the JWT of the last exchange again.
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    if isGuest(identity) { return try await renewGuest(identity) }
    let state = MessagingInAppState(identity.kindState)
    guard let token = state.identityToken, let end = JWTEnd.of(token), let user = identity.user.externalId else {
      throw SDKError(.state, .reauthNeeded, "There is no JWT to exchange; sign in again.")
    }
    var details: [String: Secret] = [:]
    details[Detail.issuer] = state.issuer.map { Secret($0) }
    let credential = CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: clock.now(), expiresAt: end), externalId: user,
      details: details)
    return try await signedIn(credential, of: identity, isRenewal: true)
  }

  private func signedIn(
    _ credential: CheckedCredential, of identity: IdentityRecord, isRenewal: Bool
  ) async throws(SDKError) -> SignedIn {
    let isSame = identity.user == .none || isSameUser(credential, as: identity) == true
    // What belongs to another user is not carried on. Without a user, it was set for the next one.
    var state = MessagingInAppState(isSame ? identity.kindState : [:])
    let isPassthrough = credential.details[Detail.passthrough] != nil
    let grant = isPassthrough ? nil : try await exchange(credential, isLogin: !isRenewal || identity.user == .none)
    let token = grant?.token ?? credential.credential.token
    let claims = grant?.claims ?? MessagingInAppClaims(token)
    let former = isRenewal && isSame ? identity.user.id : nil
    let hints = try await checked(claims, token: token, for: credential, former: former, isOwn: grant != nil)
    state.note(lastEventId: grant?.lastEventId ?? credential.details[Detail.lastEventId]?.reveal())
    state.clientId = claims.clientId
    state.issuer = credential.details[Detail.issuer]?.reveal()
    state.identityToken = isPassthrough || !settings.keepsIdentityToken ? nil : credential.credential.token
    state.identityDigest = isPassthrough ? nil : TokenID(credential.credential.token).description
    let now = clock.now()
    let isVerified = claims.subject.map(isVerifiedSubject) ?? true
    var result = SignedIn(
      user: User(
        id: claims.subject, externalId: credential.externalId, authenticationType: .jwt, authenticated: true,
        verified: isVerified, since: isRenewal ? identity.user.since ?? now : now),
      credential: Credential(token: token, type: .accessToken, obtainedAt: now, expiresAt: claims.expiresAt),
      kindState: state.kindState)
    result.hints = hints + (grant.flatMap(mismatch).map { [$0] } ?? [])
    // The vendor issued the token for this instance, so a late one is revoked. A caller's own token is the caller's.
    result.isUndoneIfLate = grant != nil
    result.isTold = grant != nil
    return result
  }

  private func exchange(
    _ credential: CheckedCredential, isLogin: Bool
  ) async throws(SDKError) -> MessagingInAppGrant {
    let jwt = credential.credential
    return try await wire.exchange(
      jwt.token, isLogin: isLogin, hasExpired: jwt.hasExpired(at: clock.earliest), hints: credential.hints)
  }

  func isVerifiedSubject(_ subject: String) -> Bool { subject.contains(settings.verifiedPattern) }

  /// Checks whom an access token is for. The vendor answers a JWT that it can't verify with a guest's token.
  ///
  /// - Parameters:
  ///   - former: the vendor's name of the user whose token is renewed; `nil` for a login.
  ///   - isOwn: whether the vendor issued the token for this instance. It is then revoked when it is not used.
  /// - Returns: hints about a token that is used.
  /// - Throws: `invalidAuth` or `expiredJWT` for a guest's token; `identityMismatch` for another user's.
  private func checked(
    _ claims: MessagingInAppClaims, token: Secret, for credential: CheckedCredential, former: String?, isOwn: Bool
  ) async throws(SDKError) -> [String] {
    guard let subject = claims.subject else {
      return ["sub: the access token does not say whom it is for, so a guest's can't be told apart"]
    }
    var refusal: SDKError?
    if !isVerifiedSubject(subject), settings.acceptGuestSubject != true {
      refusal = guestRefusal(credential)
    } else if let former, !subject.hasSameBytes(as: former) {
      refusal = SDKError(
        .state, .identityMismatch,
        "\(MessagingInAppAnswer.vendor) issued the token of another user; sign in again to switch users.")
    }
    if let refusal {
      if isOwn { try? await wire.revoke(token, deregisters: false) }
      throw refusal
    }
    if !isVerifiedSubject(subject) { return ["sub: the access token names a guest, and accept_guest_subject is set"] }
    if let id = claims.userId, let user = credential.externalId, !id.hasSameBytes(as: user) {
      return ["sub: the access token names the user \(id.clipped(toUTF8: 64)), the JWT another one"]
    }
    return []
  }

  private func guestRefusal(_ credential: CheckedCredential) -> SDKError {
    let hasExpired = credential.credential.hasExpired(at: clock.earliest)
    return SDKError(
      .vendor, hasExpired ? .expiredJWT : .invalidAuth,
      hasExpired
        ? "The JWT has expired. Sign in again with a new one."
        : "\(MessagingInAppAnswer.vendor) could not verify the JWT and issued a guest's token, which is not used.",
      httpStatus: Self.guestStatus,
      hints: credential.hints + [
        "keyset: the channel's user verification must be active and have a keyset",
        "kid: it must name a key of that keyset, which has an x5c and a valid certificate",
        "iss: it must be the keyset's issuer, byte for byte",
      ])
  }

  /// Returns a hint if the channel authenticates users in another way than the settings say.
  private func mismatch(_ grant: MessagingInAppGrant) -> String? {
    guard let mode = grant.authMode, (mode == "UnAuth") == settings.isVerified else { return nil }
    return "user_verification: the channel's authMode is \(mode.clipped(toUTF8: 32)); let the two agree"
  }

  /// Shows a token to the vendor: requests a continuation of it, which is not used.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    _ = try await wire.continuation(credential.token)
    return nil
  }

  /// Returns a token for one more reader. It is not kept.
  func continuation(of identity: IdentityRecord) async throws(SDKError) -> Token {
    guard let own = identity.credential else {
      throw SDKError(.state, .notAuthenticated, "Nobody is signed in; sign in first.")
    }
    let grant = try await wire.continuation(own.token)
    let end = grant.claims.expiresAt ?? own.expiresAt
    let credential = Credential(token: grant.token, type: .accessToken, obtainedAt: clock.now(), expiresAt: end)
    var token = Token(
      token: credential.token, tokenId: credential.tokenId, tokenType: credential.type, expiresAt: end,
      ttl: end.map { (($0 - clock.now()) * 1000).rounded(.down) / 1000 }, fromCache: false, stale: false)
    token.http = http(for: credential, of: identity)
    return token
  }
}
