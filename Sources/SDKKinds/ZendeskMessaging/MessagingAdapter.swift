import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// Messaging as one instance uses it.
struct MessagingAdapter: SDKAdapter {
  let settings: MessagingSettings
  let wire: MessagingWire
  let clock: WallClock
  let common: CommonSettings

  init(settings: MessagingSettings, services: AdapterServices) {
    self.settings = settings
    clock = services.clock
    common = settings.common
    wire = MessagingWire(settings: settings, common: settings.common, services: services)
  }

  var policy: AuthenticationPolicy {
    AuthenticationPolicy(
      onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: .signOutFirst, maxAttempts: common.maxAttempts)
  }

  var makesAnonymousUsers: Bool { settings.anonymous != .never }
  var hasHistory: Bool { true }

  // MARK: Before the network

  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let jwt = try MessagingJWT(token, now: now, isStrict: settings.strictJWT ?? false)
    return CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: jwt.expiresAt),
      externalId: jwt.externalId, name: jwt.name, email: jwt.email, hints: jwt.hints)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    guard let token = answer.token else {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider's answer has no token; it must give a JWT.")
    }
    do throws(SDKError) {
      var checked = try check(token, now: now)
      // The JWT's own end counts; what the provider says only shortens it.
      if let said = answer.expiresAt, said > now {
        checked.credential.expiresAt = min(said, checked.credential.expiresAt ?? said)
      }
      return checked
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid, "The token provider gave a JWT that can't be right. \(error.message)",
        hints: error.hints)
    }
  }

  // MARK: At the vendor

  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let anonymous = identity.phase == .anonymous ? identity : nil
    var body: JSONObject = ["userId": credential.externalId.map(JSON.string) ?? .null, "client": wire.client]
    if let anonymous, let id = anonymous.user.id, let session = anonymous.credential {
      body["appUserId"] = .string(id)
      body["sessionToken"] = .string(session.token.reveal())
    }
    let (answer, place) = try await wire.send(
      "POST", "login", body: body, authorization: .bearer(credential.credential.token), identity: identity)
    let json = try accepted(answer, credential: credential.credential, hints: credential.hints)
    let user = MessagingUser(json)
    let id = user.id ?? anonymous?.user.id
    var merge: SignedIn.Merge?
    if let former = anonymous?.user.id, let id, id != former {
      merge = .init(from: former, to: id, mode: mode(place))
    }
    return SignedIn(
      user: User(
        id: id, externalId: credential.externalId, name: user.name ?? credential.name,
        email: user.email ?? credential.email, authenticationType: .jwt, authenticated: true, verified: true,
        since: clock.now()),
      credential: credential.credential, kindState: place.kindState(realtime: user.realtimeURL), merge: merge)
  }

  func renew(
    with credential: CheckedCredential, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    try await probe(credential.credential, of: identity, hints: credential.hints)
    return SignedIn(user: identity.user, credential: credential.credential, kindState: identity.kindState)
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) {
    try await probe(credential, of: identity, hints: [])
  }

  private func probe(_ credential: Credential, of identity: IdentityRecord, hints: [String]) async throws(SDKError) {
    guard let id = identity.user.id else { return }
    let (answer, _) = try await wire.send(
      "GET", "appusers/\(MessagingWire.segment(id))", authorization: authorization(credential, identity),
      identity: identity)
    _ = try accepted(answer, credential: credential, hints: hints)
  }

  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    guard let credential, let id = identity.user.id else { return }
    let (answer, _) = try await wire.send(
      "POST", "appusers/\(MessagingWire.segment(id))/logout", body: ["client": wire.client],
      authorization: authorization(credential, identity), identity: identity)
    // No useful body: any 2xx will do.
    if case .unusable(let error) = answer, let status = error.httpStatus, (200..<300).contains(status) { return }
    _ = try accepted(answer, credential: credential, hints: [])
  }

  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let (answer, place) = try await wire.send(
      "POST", "appusers",
      body: ["client": wire.client, "intent": "conversation:start", "conversation": ["type": "personal"]],
      authorization: .none, identity: identity)
    let json = try accepted(answer, credential: nil, hints: [])
    let user = MessagingUser(json)
    guard let id = user.id, let session = user.sessionToken else {
      throw SDKError(
        .unreachable, .badResponse, "Zendesk Messaging made no user: its answer has no _id or no sessionToken.")
    }
    return SignedIn(
      user: User(
        id: id, authenticationType: .sessionToken, authenticated: false, verified: false, since: clock.now()),
      credential: Credential(token: session, type: .sessionToken, obtainedAt: clock.now(), expiresAt: nil),
      kindState: place.kindState(realtime: user.realtimeURL))
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    let place = MessagingPlace(settings: settings, identity: identity)
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = place?.baseURL
    endpoint.appId = place?.appId
    endpoint.appUserId = identity.user.id
    endpoint.clientId = wire.clientId
    endpoint.realtimeUrl = settings.realtimeURL ?? identity.kindState[MessagingPlace.realtimeKey]?.reveal()
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    TokenHTTP(headers: ["Authorization": Secret(authorization(credential, identity).header ?? "")])
  }

  func remainder(of identity: IdentityRecord) -> [String: Secret] {
    identity.kindState.filter { MessagingPlace.keys.contains($0.key) }
  }

  private func authorization(_ credential: Credential, _ identity: IdentityRecord) -> MessagingWire.Authorization {
    credential.type == .jwt
      ? .bearer(credential.token) : .basic(user: identity.user.id ?? "", password: credential.token)
  }

  private func mode(_ place: MessagingPlace) -> String {
    (settings.conversationMode ?? (place.isMulti ? .multi : .single)).rawValue
  }

  /// The body of an accepted request, or what the refusal means.
  private func accepted(
    _ answer: VendorAnswer, credential: Credential?, hints: [String]
  ) throws(SDKError) -> JSON {
    let hasExpired = credential?.type == .jwt && credential?.hasExpired(at: clock.now()) == true
    switch answer {
    case .accepted(let json): return json
    case .unauthorized(let code, let description):
      throw SDKError(
        .vendor, hasExpired ? .expiredJWT : .invalidAuth,
        hasExpired
          ? "The JWT has expired. Log in again with a new one."
          : "Zendesk Messaging refused the credential; check its signature, kid and scope, and log in again.",
        httpStatus: 401, vendorCode: code, vendorDescription: description, hints: hints)
    case .forbidden(let code, let description):
      throw SDKError(
        .vendor, .forbidden, "Zendesk Messaging does not let this user do that; check the account's settings.",
        httpStatus: 403, vendorCode: code, vendorDescription: description, hints: hints)
    case .notFound:
      throw SDKError(
        .vendor, .notFound, "Zendesk Messaging knows no such app or user; check base_url and app_id.", httpStatus: 404)
    case .unusable(let error):
      // A dead token can look like a broken network: its end is looked at first.
      if hasExpired, error.httpStatus == nil {
        throw SDKError(.vendor, .expiredJWT, "The JWT has expired. Log in again with a new one.", hints: hints)
      }
      throw error
    }
  }
}
