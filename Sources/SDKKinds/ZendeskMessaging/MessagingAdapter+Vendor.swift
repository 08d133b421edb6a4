import JSONRPC
import SDKInstances
import SDKProtocol

extension MessagingAdapter {
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    try await account.atPlace(of: identity) { (place, isMoved) throws(SDKError) in
      let anonymous = identity.phase == .anonymous && !isMoved ? identity : nil
      do throws(SDKError) {
        return try await login(credential, absorbing: anonymous, from: identity, at: place, isMoved: isMoved)
      } catch {
        // The vendor does not say which of the two credentials it refuses.
        guard let anonymous, isRefusal(error), await isGone(anonymous, at: place) else { throw error }
        return try await login(credential, absorbing: nil, from: identity, at: place, isMoved: isMoved)
      }
    }
  }

  /// - Parameter isMoved: whether the vendor does not know the identity's user at this place.
  func login(
    _ credential: CheckedCredential, absorbing anonymous: IdentityRecord?, from identity: IdentityRecord,
    at place: MessagingPlace, isMoved: Bool
  ) async throws(SDKError) -> SignedIn {
    let isSame = identity.user.externalId.hasSameBytes(as: credential.externalId)
    let isSwitch = identity.user.externalId != nil && !isSame
    var body: JSONObject = [
      "userId": credential.externalId.map(JSON.string) ?? .null,
      "client": wire.client(place, dropsPush: isSwitch || hasFormerPush(identity)),
    ]
    var sent = [credential.credential.token]
    if let anonymous, let id = anonymous.user.id, let session = anonymous.credential {
      sent.append(session.token)
      body["appUserId"] = .string(id)
      body["sessionToken"] = .string(session.token.reveal())
    }
    let answer = await wire.send(
      "POST", "login", body: body, authorization: .bearer(credential.credential.token), secrets: sent, at: place)
    let user = try MessagingUser(
      accepted(answer, credential: credential.credential, hints: credential.hints), without: wire.history.sent(sent))
    // An empty body is accepted: the user id then stays the same, except where the vendor gives the user another one.
    let id = user.id ?? anonymous?.user.id ?? (isSame && !isMoved ? identity.user.id : nil)
    let realtime = wire.realtimeURL(user.realtimeURL, at: place)
    var merge: SignedIn.Merge?
    if let former = anonymous?.user.id, let id, id != former {
      merge = .init(from: former, to: id, mode: mode(place))
    }
    return SignedIn(
      user: User(
        id: id, externalId: credential.externalId, name: user.name ?? credential.name,
        email: user.email ?? credential.email, authenticationType: .jwt, authenticated: true, verified: true,
        since: clock.now()),
      credential: credential.credential,
      kindState: place.kindState(realtime: realtime), merge: merge,
      losesPushes: isMoved)
  }

  /// Whether the vendor no longer knows an anonymous user, or refuses their credential.
  private func isGone(_ anonymous: IdentityRecord, at place: MessagingPlace) async -> Bool {
    guard let id = anonymous.user.id, let credential = anonymous.credential else { return false }
    let answer = await wire.send(
      "GET", Self.path(id), authorization: .init(credential, of: anonymous.user), at: place)
    switch answer {
    case .unauthorized, .notFound: return true
    case .accepted, .forbidden, .unusable: return false
    }
  }

  func renew(
    with credential: CheckedCredential, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    try await account.atPlace(of: identity) { (place, isMoved) throws(SDKError) in
      if let id = identity.user.id, !isMoved {
        let answer = await authorized("GET", Self.path(id), credential.credential, of: identity, at: place)
        guard case .notFound = answer else {
          _ = try accepted(answer, credential: credential.credential, hints: credential.hints)
          return SignedIn(user: identity.user, credential: credential.credential, kindState: identity.kindState)
        }
      }
      // The user was merged while there was no connection, or does not exist yet. A login returns the present user.
      var renewed = try await login(credential, absorbing: nil, from: identity, at: place, isMoved: isMoved)
      renewed.user.since = identity.user.since
      return renewed
    }
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    guard let id = identity.user.id else { return nil }
    return try await account.atPlace(of: identity) { (place, _) throws(SDKError) in
      let answer = await authorized("GET", Self.path(id), credential, of: identity, at: place)
      if case .notFound = answer {
        throw SDKError(
          .vendor, .invalidAuth, "Zendesk Messaging does not know this user any more; log in again.", httpStatus: 404)
      }
      _ = try accepted(answer, credential: credential, hints: [])
      return nil
    }
  }

  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    guard let credential, let id = identity.user.id else {
      throw SDKError(.vendor, .notFound, "Zendesk Messaging has not made this user yet; the logout is local.")
    }
    try await account.atPlace(of: identity) { (place, _) throws(SDKError) in
      let answer = await authorized(
        "POST", "\(Self.path(id))/logout", body: ["client": wire.client(place)], credential, of: identity, at: place)
      try succeeded(answer, credential: credential)
    }
  }

  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    try await account.atPlace(of: identity) { (place, _) throws(SDKError) in
      let answer = await wire.send(
        "POST", "appusers",
        body: [
          "client": wire.client(place, dropsPush: hasFormerPush(identity)), "intent": "conversation:start",
          "conversation": ["type": "personal"],
        ],
        authorization: .none, at: place)
      let user = try MessagingUser(accepted(answer, credential: nil, hints: []), without: wire.history.sent([]))
      guard let id = user.id, let session = user.sessionToken else {
        throw SDKError(
          .unreachable, .badResponse, "Zendesk Messaging made no user: its answer has no _id or no sessionToken.")
      }
      return SignedIn(
        user: User(
          id: id, authenticationType: .sessionToken, authenticated: false, verified: false, since: clock.now()),
        credential: Credential(token: session, type: .sessionToken, obtainedAt: clock.now(), expiresAt: nil),
        kindState: place.kindState(realtime: wire.realtimeURL(user.realtimeURL, at: place)), isIrreplaceable: true)
    }
  }

  static func path(_ user: String) -> String { "appusers/\(PercentEncoding.segment(user))" }

  /// Sends a request with a user's credential, and once more after a 403. With a JWT, one silent login must succeed
  /// before the second request, as in the vendor's SDK.
  func authorized(
    _ method: String, _ path: String, body: JSONObject? = nil, secrets: [Secret] = [], _ credential: Credential,
    of identity: IdentityRecord, at place: MessagingPlace
  ) async -> VendorAnswer {
    let authorization = MessagingWire.Authorization(credential, of: identity.user)
    let first = await wire.send(
      method, path, body: body, authorization: authorization, secrets: secrets, at: place)
    guard case .forbidden = first else { return first }
    if credential.type == .jwt, let externalId = identity.user.externalId {
      let again = await wire.send(
        "POST", "login", body: ["userId": .string(externalId), "client": wire.client(place)],
        authorization: authorization, at: place)
      guard case .accepted = again else { return first }
    }
    return await wire.send(method, path, body: body, authorization: authorization, secrets: secrets, at: place)
  }

  /// Checks the response to a request whose body does not matter: any 2xx is a success.
  func succeeded(_ answer: VendorAnswer, credential: Credential?) throws(SDKError) {
    if case .unusable(let error) = answer, let status = error.httpStatus, (200..<300).contains(status),
      !error.isPermanent
    {
      return
    }
    _ = try accepted(answer, credential: credential, hints: [])
  }

  /// Returns the body of an accepted request, or throws the error that the refusal stands for.
  func accepted(
    _ answer: VendorAnswer, credential: Credential?, hints: [String]
  ) throws(SDKError) -> JSON {
    let hasExpired = credential?.type == .jwt && credential?.hasExpired(at: clock.earliest) == true
    switch answer {
    case .accepted(let json): return json
    case .unauthorized(let status, let code, let description):
      throw SDKError(
        .vendor, hasExpired ? .expiredJWT : .invalidAuth,
        hasExpired
          ? "The JWT has expired. Log in again with a new one."
          : "Zendesk Messaging refused the credential; check its signature, kid and scope, and log in again.",
        httpStatus: status, vendorCode: code, vendorDescription: description, hints: hints)
    case .forbidden(let code, let description):
      throw SDKError(
        .vendor, .forbidden, "Zendesk Messaging does not let this user do that; check the account's settings.",
        httpStatus: 403, vendorCode: code, vendorDescription: description, hints: hints)
    case .notFound:
      throw SDKError(
        .vendor, .notFound, "Zendesk Messaging knows no such app or user; check base_url and app_id.", httpStatus: 404)
    case .unusable(let error):
      // An expired token can look like a network failure, so its expiry is checked first.
      if hasExpired, error.httpStatus == nil {
        throw SDKError(.vendor, .expiredJWT, "The JWT has expired. Log in again with a new one.", hints: hints)
      }
      throw error
    }
  }
}
