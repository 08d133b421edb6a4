import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// The adapter of a Chat instance.
final class ChatAdapter: SDKAdapter, MakesAnonymousUsers, AdmitsGuests, AddsToSessions, KnowsBans {
  private static let visitorsFields = ["name", "email", "phone"]

  let settings: ChatSettings
  let wire: ChatWire
  let mediator: ChatMediator?
  let clock: WallClock
  let traits: SDKTraits

  init(settings: ChatSettings, services: AdapterServices) {
    self.settings = settings
    clock = services.clock
    traits = Self.traits(settings)
    wire = ChatWire(settings: settings, services: services)
    mediator = settings.mediatorURL.map { ChatMediator(url: $0, settings: settings, services: services) }
  }

  private static func traits(_ settings: ChatSettings) -> SDKTraits {
    let end: AuthenticationPolicy.Consequence = settings.fallback == .anonymous ? .fallBack : .keep
    var policy = AuthenticationPolicy(
      onDenied: end, onBudgetSpent: end, onAnotherUser: .wipeOnSuccess, maxAttempts: settings.common.maxAttempts)
    policy.onNoMeans = end
    policy.onFailure = end
    policy.usesUnverified = false
    policy.renewsToSignOut = false
    var traits = SDKTraits(common: settings.common, policy: policy)
    traits.hasHistory = false
    traits.reportNotes = ["banned": ChatVisitor.ban]
    return traits
  }

  var capabilities: Capabilities {
    Capabilities(anonymousUsers: self, guests: self, sessions: self, bans: self)
  }

  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool {
    settings.fallback == .anonymous || !ChatVisitor(identity).isIdentified
  }

  func isPrepared(_ identity: IdentityRecord) -> Bool { ChatVisitor(identity).isIdentified }

  // MARK: Before the network

  /// Checks the JWT of `chat.setIdentity` and returns it as a credential. Without a JWT the credential is empty, and
  /// the owner will be asked for one.
  ///
  /// - Throws: the errors of `ChatJWT`; `externalUserIdHasChanged` for another visitor than the known one.
  func check(
    _ token: Secret?, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential {
    guard let token else {
      return CheckedCredential(
        credential: Credential(token: Secret(""), type: .jwt, obtainedAt: now, expiresAt: nil))
    }
    let checked = try check(token, now: now)
    if isSameUser(checked, as: identity) == false {
      throw SDKError(
        .vendor, .externalUserIdHasChanged,
        "The external_id of a visitor can't change; call chat.resetIdentity before another visitor's identity is set.",
        hints: checked.hints)
    }
    return checked
  }

  private func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let token = CredentialWrapping.removed(fromJWT: token)
    let jwt = try ChatJWT(token, externalIdMax: settings.externalIdMax, now: now)
    return CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: jwt.expiresAt),
      externalId: jwt.externalId, name: jwt.name, email: jwt.email, hints: jwt.hints)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    try answer.checkedJWT { token throws(SDKError) in try check(token, now: now) }
  }

  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let known = identity.user.externalId else { return nil }
    // Without a JWT the credential names no visitor. The owner's response must be for the known one.
    return credential.externalId?.hasSameBytes(as: known) ?? true
  }

  // MARK: Renewal

  func mayAsk(for identity: IdentityRecord) -> Bool {
    switch identity.phase {
    case .anonymous, .authenticated, .reauthNeeded: ChatVisitor(identity).isIdentified
    case .noUser, .loggedOut, .locked: false
    }
  }

  /// Whether a fresh JWT could recover from the error.
  func isRefusal(_ error: SDKError) -> Bool {
    switch (error.origin, error.reason) {
    case (.vendor, .invalidAccessToken), (.vendor, .invalidName), (.vendor, .invalidEmail),
      (.vendor, .tokenHasExpired), (.local, .tokenHasExpired):
      true
    default: false
    }
  }

  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    guard !credential.credential.hasExpired(at: clock.earliest) else {
      throw SDKError(
        .local, .tokenHasExpired, "The JWT has expired before it was used; set the identity again with a new one.",
        hints: credential.hints)
    }
    var visitor = ChatVisitor(identity)
    let grant = try await wire.exchange(
      credential.credential.token, state: visitor.state, hints: credential.hints)
    visitor.settle()
    visitor.state = grant.state ?? visitor.state
    let now = clock.now()
    return SignedIn(
      user: User(
        externalId: credential.externalId, name: credential.name, email: credential.email, authenticationType: .jwt,
        authenticated: true, verified: true, since: identity.user.since ?? now),
      credential: Credential(
        token: grant.idToken, type: .idToken, obtainedAt: now, expiresAt: grant.expiresIn.map { now + $0 }),
      kindState: visitor.kindState)
  }

  // MARK: At the vendor

  /// Sets the identity without a request. The JWT is exchanged when a session opens or a token is needed.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    var visitor = ChatVisitor(identity)
    visitor.settle()
    visitor.isIdentified = true
    let isKnown = identity.phase == .authenticated || identity.phase == .reauthNeeded
    return SignedIn(
      user: identity.user, credential: identity.credential, kindState: visitor.kindState,
      prepared: isKnown ? .authenticated : .anonymous, events: [.identityChanged],
      supply: credential.credential.token.isEmpty ? nil : credential)
  }

  /// Does nothing: a reset is local, because there is no connection that the vendor would have to end.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {}

  /// Creates an anonymous visitor, who consists of a machine id that we generate.
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    var visitor = ChatVisitor(identity)
    visitor.settle()
    return SignedIn(user: .none, credential: nil, kindState: visitor.kindState)
  }

  /// Verifies an id token with the mediator. Without a mediator it can't be verified, and no error is thrown.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    guard let mediator, let machineId = ChatVisitor(identity).machineId else { return nil }
    _ = try await mediator.admits(machineId: machineId, idToken: credential.token)
    return nil
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = settings.idURL
    endpoint.realtimeUrl = settings.mediatorURL
    endpoint.appId = settings.appId
    endpoint.machineId = ChatVisitor(identity).machineId
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    guard let machineId = ChatVisitor(identity).machineId else { return TokenHTTP() }
    return TokenHTTP(headers: ["X-Zopim-MID": Secret(machineId)])
  }

  /// Returns the reason why apps must not show the chat: a ban that an app reported; `nil` for none. With a mediator,
  /// `open` detects bans instead.
  func hidden(_ identity: IdentityRecord) -> Session.HiddenReason? {
    mediator == nil && ChatVisitor(identity).isBanned ? .banned : nil
  }

  func withheld(_ identity: IdentityRecord) -> SDKError? {
    guard ChatVisitor(identity).isBanned else { return nil }
    return SDKError(
      .vendor, .forbidden,
      mediator == nil
        ? "The visitor is banned and gets no token; reset the identity once the ban has been lifted."
        : "The visitor is banned and gets no token; open a session once the ban has been lifted.",
      vendorCode: "banned")
  }

  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening {
    let isAuthenticated = identity.phase == .authenticated
    var opening = SessionOpening(editableFields: isAuthenticated ? [] : Self.visitorsFields)
    if let mediator, let machineId = ChatVisitor(identity).machineId {
      let isAdmitted = try await mediator.admits(
        machineId: machineId, idToken: isAuthenticated ? identity.credential?.token : nil)
      // The ban is stored with the identity, because token.get sends no request to the mediator.
      if isAdmitted { opening.delivered = ChatVisitor.ban } else { opening.learned = ChatVisitor.ban }
      opening.hidden = isAdmitted ? nil : .banned
    }
    return opening
  }
}
