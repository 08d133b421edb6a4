import DelegateBridge
import SDKInstances
import SDKProtocol

/// The adapter of a Service Chat instance. Each service type has its own settings, token and state.
final class SalesforceAdapter: SDKAdapter, RenewsItself, AdmitsGuests, RegistersForPush, LeavesCleanup {
  let settings: SalesforceSettings
  let traits: SDKTraits
  let wire: SalesforceWire
  let clock: WallClock

  init(settings: SalesforceSettings, services: AdapterServices) {
    self.settings = settings
    traits = Self.traits(settings)
    clock = services.clock
    wire = SalesforceWire(settings: settings, common: settings.common, services: services)
  }

  private static func traits(_ settings: SalesforceSettings) -> SDKTraits {
    var policy = AuthenticationPolicy(
      onDenied: .becomeGuest, onBudgetSpent: .becomeGuest, onAnotherUser: .wipeOnSuccess,
      maxAttempts: settings.common.maxAttempts)
    policy.onNoMeans = .becomeGuest
    policy.confirmsFirst = true
    policy.renewsToSignOut = false
    var traits = SDKTraits(common: settings.common, policy: policy)
    traits.services = settings.services
    traits.question = .shouldAuthenticate
    return traits
  }

  var capabilities: Capabilities {
    Capabilities(renewal: self, guests: self, push: self, cleanup: self)
  }

  let pushRules = PushRules(keepsOne: true)

  /// Whether the identity is a guest, whose session opens without a credential.
  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool { identity.isNobody }

  // MARK: Before the network

  /// Converts settings that a caller supplied to a credential.
  func check(_ settings: AuthenticationSettings, for identity: IdentityRecord, now: Timestamp) -> CheckedCredential {
    CheckedCredential(
      credential: Credential(token: settings.accessToken, type: .accessToken, obtainedAt: now, expiresAt: nil),
      details: settings.account.state)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    guard answer.authenticate == true, let members = answer.settings else { return nil }
    do throws(SDKError) {
      let settings = try AuthenticationSettings(members)
      for (member, url) in settings.urls { try wire.services.supplied.check(url, what: member) }
      return check(settings, for: identity, now: now)
    } catch {
      throw SDKError(
        .provider, .providerOutputInvalid,
        "The answer to shouldAuthenticate has settings that can't be right. \(error.message)", member: error.member)
    }
  }

  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let new = SalesforceAccount(credential.details), let old = SalesforceAccount(identity.kindState) else {
      return nil
    }
    if let one = new.user, let other = old.user { return one.isSame(as: other) }
    if credential.credential.token == identity.credential?.token { return true }
    return new.refreshToken != nil && new.refreshToken == old.refreshToken ? true : nil
  }

  func sessionKeys(of identity: IdentityRecord) -> Set<Secret> {
    SalesforceAccount(identity.kindState)?.sessionKeys(identity.credential?.token) ?? []
  }

  func sessionKeys(of credential: CheckedCredential) -> Set<Secret>? {
    SalesforceAccount(credential.details)?.sessionKeys(credential.credential.token)
  }

  // MARK: Renewal

  /// Whether the owner may be asked for settings: always, unless the identity is locked. This includes services without
  /// settings, since the owner may sign in their user (`rows.md`, F3).
  func mayAsk(for identity: IdentityRecord) -> Bool { identity.phase != .locked }

  func renewsItself(_ identity: IdentityRecord) -> Bool {
    SalesforceAccount(identity.kindState)?.refreshToken != nil
  }

  func spends(_ identity: IdentityRecord) -> Bool { renewsItself(identity) }

  func isRefusal(_ error: SDKError) -> Bool {
    error.origin == .vendor && (error.reason == .invalidGrant || error.reason == .invalidAuth)
  }

  /// Returns the identity's stored values without the refused refresh token.
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] {
    identity.kindState.filter { $0.key != SalesforceAccount.refreshTokenKey }
  }

  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    guard let account = SalesforceAccount(identity.kindState) else {
      throw SDKError(.state, .notAuthenticated, "This service has no authentication settings.")
    }
    return try await refreshed(account, with: identity.credential?.token, of: identity)
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    let account = SalesforceAccount(identity.kindState)
    var endpoint = Session.Endpoint()
    endpoint.instanceUrl = account?.instanceURL
    endpoint.baseUrl = account?.loginURL
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    TokenHTTP(headers: ["Authorization": Secret("Bearer \(credential.token.reveal())")])
  }
}
