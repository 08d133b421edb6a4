import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol
import Synchronization

/// The adapter of an instance of Messaging for In-App and Web.
final class MessagingInAppAdapter: SDKAdapter, RenewsItself, MakesAnonymousUsers, RegistersForPush, AddsToSessions,
  LeavesCleanup
{
  let settings: MessagingInAppSettings
  let wire: MessagingInAppWire
  let clock: WallClock
  let traits: SDKTraits
  /// The time of the last request for a continuation token.
  private let lastContinuation = Mutex<Timestamp?>(nil)

  init(settings: MessagingInAppSettings, services: AdapterServices, budget: MessagingInAppBudget) {
    self.settings = settings
    clock = services.clock
    traits = SDKTraits(common: settings.common, policy: Self.policy(settings))
    wire = MessagingInAppWire(settings: settings, services: services, budget: budget)
  }

  /// The number of refused answers of the bridge that end a renewal, as in the vendor's SDK.
  private static let mostAnswers = 2

  private static func policy(_ settings: MessagingInAppSettings) -> AuthenticationPolicy {
    let most = settings.common.maxAttempts
    var policy = AuthenticationPolicy(
      onDenied: .logOut, onBudgetSpent: .logOut, onAnotherUser: .signOutAfter, maxAttempts: min(most, mostAnswers))
    policy.mostRefusals = most
    policy.replacesAnonymousUsers = settings.replacesGuests
    policy.renewsToSignOut = false
    policy.usesUnverified = false
    policy.outlivesRefusedRenewal = true
    return policy
  }

  var capabilities: Capabilities {
    Capabilities(
      renewal: self, anonymousUsers: settings.isVerified ? nil : self, push: self, cleanup: self, sessions: self)
  }

  // MARK: Before the network

  /// Checks that users of this instance prove who they are.
  ///
  /// - Throws: `identityChangeRefused`.
  func checkMaySignIn() throws(SDKError) {
    guard !settings.isVerified else { return }
    throw SDKError(
      .state, .identityChangeRefused,
      "The users of this instance are guests (user_verification = off); a guest can't become a verified user.")
  }

  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let token = CredentialWrapping.removed(fromJWT: token)
    let jwt = try MessagingInAppJWT(token, settings: settings, now: now)
    return CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: jwt.expiresAt),
      externalId: jwt.subject, hints: jwt.hints, details: [Detail.issuer: Secret(jwt.issuer)])
  }

  /// Checks an access token of the vendor that the app or the bridge supplies.
  func check(
    passthrough token: Secret, lastEventId: String?, now: Timestamp
  ) throws(SDKError) -> CheckedCredential {
    try OpaqueText.check((value: token, name: "access token", member: "accessToken"))
    let text = token.reveal()
    guard (1...TextLimits.token).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw SDKError(
        .local, .invalidAuthParameters, "The access token must be one printable word.", member: "accessToken")
    }
    let claims = MessagingInAppClaims(token)
    if let end = claims.expiresAt, end <= now {
      throw SDKError(.local, .expiredJWT, "The JWT has expired. Supply a new access token.")
    }
    var details = [Detail.passthrough: Secret("true")]
    details[Detail.subject] = claims.subject.map { Secret($0) }
    details[Detail.lastEventId] = lastEventId.flatMap(MessagingInAppState.digits).map { Secret($0) }
    return CheckedCredential(
      credential: Credential(token: token, type: .accessToken, obtainedAt: now, expiresAt: claims.expiresAt),
      externalId: claims.userId, details: details)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    guard let token = answer.secret("accessToken") else {
      return try answer.checkedJWT { token throws(SDKError) in try check(token, now: now) }
    }
    do throws(SDKError) {
      return try check(passthrough: token, lastEventId: answer.members["lastEventId"]?.stringValue, now: now)
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid,
        "The token provider gave an access token that can't be right. \(error.message)")
    }
  }

  /// Details of a checked credential.
  enum Detail {
    static let issuer = "issuer"
    static let passthrough = "passthrough"
    static let subject = "subject"
    static let lastEventId = "last_event_id"
  }

  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    if let subject = credential.details[Detail.subject]?.reveal(), let known = identity.user.id {
      return subject.hasSameBytes(as: known)
    }
    guard let named = credential.externalId, let known = identity.user.externalId else { return nil }
    let issuer = credential.details[Detail.issuer]?.reveal()
    let isOtherIssuer = MessagingInAppState(identity.kindState).issuer.map { issuer?.hasSameBytes(as: $0) == false }
    return named.hasSameBytes(as: known) && isOtherIssuer != true
  }

  /// Revoking a token ends that token only, not another one of the same user.
  func sessionKeys(of identity: IdentityRecord) -> Set<Secret> { identity.credential.map { [$0.token] } ?? [] }

  func sessionKeys(of credential: CheckedCredential) -> Set<Secret>? {
    credential.details[Detail.passthrough] == nil ? [] : [credential.credential.token]
  }

  // MARK: Renewal

  /// Whether the owner may be asked for a JWT: also for a first user, unless the last logout was implicit.
  func mayAsk(for identity: IdentityRecord) -> Bool {
    switch identity.phase {
    case .authenticated, .reauthNeeded: !isGuest(identity)
    case .noUser, .loggedOut:
      settings.isVerified && settings.signIn != .explicit && identity.isLoggedOutImplicitly != true
    case .anonymous, .locked: false
    }
  }

  /// Whether an error means that the vendor refused the credential. An exchange that was answered with a guest's token
  /// is none: another JWT of the same key would make one more guest.
  func isRefusal(_ error: SDKError) -> Bool {
    error.origin == .vendor && (error.reason == .invalidAuth || error.reason == .expiredJWT)
      && error.httpStatus != Self.guestStatus
  }

  static let guestStatus = 200

  /// Whether the vendor renews the guest, or the JWT of the last exchange is kept and lives long enough to be exchanged
  /// again.
  func renewsItself(_ identity: IdentityRecord) -> Bool {
    if isGuest(identity) { return spends(identity) }
    guard let token = MessagingInAppState(identity.kindState).identityToken, let end = JWTEnd.of(token) else {
      return false
    }
    return end - clock.now() > settings.common.planner.margin
  }

  /// Whether a renewal spends a guest's refresh token.
  func spends(_ identity: IdentityRecord) -> Bool {
    isGuest(identity) && identity.phase != .reauthNeeded
      && MessagingInAppState(identity.kindState).refreshToken != nil
  }

  func isGuest(_ identity: IdentityRecord) -> Bool { identity.user.authenticationType == .sessionToken }

  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] {
    var state = MessagingInAppState(identity.kindState)
    state.identityToken = nil
    return state.kindState
  }

  func kindState(restoring identity: IdentityRecord) -> [String: Secret] {
    var state = MessagingInAppState(identity.kindState)
    state.refreshToken = nil
    return state.kindState
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    let state = MessagingInAppState(identity.kindState)
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = settings.base
    endpoint.realtimeUrl = settings.realtimeURL
    endpoint.appId = settings.developerName
    endpoint.appUserId = identity.user.id
    endpoint.clientId = state.clientId
    endpoint.orgId = settings.shortOrgId
    endpoint.deviceId = wire.deviceId
    endpoint.lastEventId = state.lastEventId
    endpoint.apiVersion = settings.generation.rawValue
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    TokenHTTP(headers: [
      "Authorization": Secret("Bearer \(credential.token.reveal())"), "X-Org-Id": Secret(settings.shortOrgId),
    ])
  }

  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening {
    SessionOpening(data: MessagingInAppState(identity.kindState).preChatFields)
  }

  /// Counts a request for a continuation token.
  ///
  /// - Throws: `rateLimit` for a second one within a second.
  func countContinuation() throws(SDKError) {
    let now = clock.machine()
    let isTooSoon = lastContinuation.withLock { last in
      if let last, (0..<1).contains(now - last) { return true }
      last = now
      return false
    }
    guard isTooSoon else { return }
    throw SDKError(
      .limit, .rateLimit, "There is at most one continuation token each second; try again later.", retryAfter: 1)
  }
}
