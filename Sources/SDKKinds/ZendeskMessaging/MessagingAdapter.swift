import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// The adapter of a Messaging instance.
final class MessagingAdapter: SDKAdapter, MakesAnonymousUsers, KeepsConnection, RegistersForPush, LeavesCleanup {
  let settings: MessagingSettings
  let wire: MessagingWire
  let account: MessagingAccount
  let clock: WallClock
  let traits: SDKTraits
  /// The client id of the realtime connection that broke last.
  let former = FormerClient()

  init(settings: MessagingSettings, services: AdapterServices) {
    self.settings = settings
    clock = services.clock
    traits = SDKTraits(
      common: settings.common,
      policy: AuthenticationPolicy(
        onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: .signOutAfter,
        maxAttempts: settings.common.maxAttempts))
    wire = MessagingWire(common: settings.common, services: services)
    account = MessagingAccount(settings: settings, wire: wire, services: services)
  }

  var capabilities: Capabilities {
    Capabilities(anonymousUsers: settings.anonymous == .never ? nil : self, connection: self, push: self, cleanup: self)
  }

  let pushRules = PushRules(keepsOne: true, overwrites: true)

  // MARK: Before the network

  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let token = CredentialWrapping.removed(fromJWT: token)
    let jwt = try MessagingJWT(token, now: now, isStrict: settings.strictJWT ?? false)
    return CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: jwt.expiresAt),
      externalId: jwt.externalId, name: jwt.name, email: jwt.email, hints: jwt.hints)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    try answer.checkedJWT { token throws(SDKError) in try check(token, now: now) }
  }

  /// Whether the owner may be asked for a JWT: not for an anonymous user, whom a JWT would replace.
  func mayAsk(for identity: IdentityRecord) -> Bool {
    identity.user.externalId != nil && (identity.phase == .authenticated || identity.phase == .reauthNeeded)
  }

  /// Whether an error is a refusal of the credential. Some have no status: those of the realtime socket, and an expired
  /// JWT without a response.
  func isRefusal(_ error: SDKError) -> Bool {
    error.origin == .vendor
      && (error.httpStatus == 401 || error.reason == .invalidAuth || error.reason == .expiredJWT)
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    let place = account.known(identity)
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = place?.baseURL
    endpoint.appId = place?.appId
    endpoint.appUserId = identity.user.id
    endpoint.clientId = wire.clientId
    endpoint.realtimeUrl = account.realtimeURL(of: identity)
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    let authorization = MessagingWire.Authorization(credential, of: identity.user)
    return TokenHTTP(headers: ["Authorization": Secret(authorization.header ?? "")])
  }

  func remainder(of identity: IdentityRecord, pushes: [PushRecord]) -> [String: Secret] {
    var state = identity.kindState.filter { MessagingPlace.keys.contains($0.key) || $0.key == Self.formerPushKey }
    if !pushes.isEmpty { state[Self.formerPushKey] = Secret("true") }
    return state
  }

  /// The key of the note that the vendor may still send a former user's push messages to this client.
  private static let formerPushKey = "former_push"

  /// Whether the next login must end a former user's push registration, which the vendor keeps with the client.
  func hasFormerPush(_ identity: IdentityRecord) -> Bool { identity.kindState[Self.formerPushKey] != nil }

  func mode(_ place: MessagingPlace) -> String {
    (settings.conversationMode ?? (place.isMulti ? .multi : .single)).rawValue
  }
}

/// The realtime socket: Bayeux on a WebSocket, with one subscription to the user's channel.
extension MessagingAdapter {
  func keepsConnection(for identity: IdentityRecord) -> Bool {
    settings.realtime != .off && identity.user.id != nil && identity.credential != nil
      && account.realtimeURL(of: identity) != nil
  }

  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection {
    try await account.atPlace(of: identity) { (place, isMoved) throws(SDKError) in
      if isMoved { try await learnRealtimeURL(of: identity, at: place) }
      return try await connect(identity, at: place)
    }
  }

  /// Logs in once more where the account is now, because a login tells the URL of the realtime socket. An anonymous
  /// user can't, and is requested instead.
  ///
  /// - Throws: `invalidAuth` if the vendor has the user under another id there: a renewal then makes that the user.
  private func learnRealtimeURL(of identity: IdentityRecord, at place: MessagingPlace) async throws(SDKError) {
    guard let user = identity.user.id, let credential = identity.credential else { return }
    guard credential.type == .jwt else {
      let answer = await authorized("GET", Self.path(user), credential, of: identity, at: place)
      let json = try accepted(answer, credential: credential, hints: [])
      let found = try MessagingUser(json, without: wire.history.sent([]))
      return account.keep(realtime: wire.realtimeURL(found.realtimeURL, at: place), of: identity)
    }
    let offered = CheckedCredential(credential: credential, externalId: identity.user.externalId)
    let result = try await login(offered, absorbing: nil, from: identity, at: place, isMoved: true)
    guard result.user.id == user else { throw Self.unknownAfterMove }
    account.keep(realtime: result.kindState[MessagingPlace.realtimeKey]?.reveal(), of: identity)
  }

  private static let unknownAfterMove = SDKError(
    .vendor, .invalidAuth,
    "Zendesk Messaging has moved the account, and has another user there; log in again.", httpStatus: 404)

  private func connect(
    _ identity: IdentityRecord, at place: MessagingPlace
  ) async throws(SDKError) -> any RealtimeConnection {
    guard let url = account.realtimeURL(of: identity), let user = identity.user.id,
      let credential = identity.credential
    else { throw SDKError(.unreachable, .network, "There is no realtime connection for this user.") }
    let ext: JSONObject = [
      "appId": .string(place.appId), "appUserId": .string(user),
      credential.type == .jwt ? "jwt" : "sessionToken": .string(credential.token.reveal()),
    ]
    let socket = try await wire.openSocket(url)
    let client = Bayeux(
      channel: "/sdk/apps/\(place.appId)/appusers/\(user)", ext: ext, timeout: traits.common.timeout,
      resuming: former.take(for: identity))
    return MessagingConnection(
      socket, client, identity: identity, mode: mode(place), clock: clock, former: former, history: wire.history)
  }
}
