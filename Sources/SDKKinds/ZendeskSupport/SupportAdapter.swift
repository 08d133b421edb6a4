import DelegateBridge
import SDKInstances
import SDKProtocol

/// The adapter of a Support instance.
final class SupportAdapter: SDKAdapter, RenewsItself, RegistersForPush, LeavesCleanup {
  let settings: SupportSettings
  let wire: SupportWire
  let account: SupportAccount
  let clock: WallClock
  let traits: SDKTraits

  init(settings: SupportSettings, services: AdapterServices) {
    self.settings = settings
    clock = services.clock
    traits = Self.traits(settings)
    wire = SupportWire(common: settings.common, services: services)
    account = SupportAccount(settings: settings, wire: wire, clock: services.clock)
  }

  private static func traits(_ settings: SupportSettings) -> SDKTraits {
    // The vendor's own SDK wipes a refused identity. sdkd locks and keeps it, unless a setting says otherwise
    // (`rows.md`, S9).
    let end: AuthenticationPolicy.Consequence = settings.strictVendorWipe == true ? .logOut : .lock
    var policy = AuthenticationPolicy(
      onDenied: end, onBudgetSpent: end, onAnotherUser: .wipeOnSuccess, maxAttempts: settings.common.maxAttempts)
    policy.onNoMeans = end
    policy.usesUnverified = false
    policy.renewsToSignOut = false
    policy.outlivesRefusedRenewal = true
    var traits = SDKTraits(common: settings.common, policy: policy)
    traits.missingUser = .noIdentity
    // An agent stays an agent (`rows.md`, S4).
    traits.finalReason = .agentNotAllowed
    return traits
  }

  var capabilities: Capabilities {
    Capabilities(renewal: self, push: self, cleanup: self)
  }

  let pushRules = PushRules()

  var place: SupportWire.Place { .init(baseURL: settings.baseURL, clientId: settings.clientId) }

  // MARK: Before the network

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    let supplied = try supplied(answer)
    return credential(
      supplied.identity, guid: identity.kindState[SupportIdentity.guidKey] ?? newGuid(), hints: supplied.hints, now: now
    )
  }

  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let asked = SupportIdentity(credential.details), let stored = SupportIdentity(identity.kindState) else {
      return nil
    }
    return asked.isSame(as: stored) ? true : nil
  }

  /// Compares the identities. The guid of a new identity is random, and a unique id that the owner supplies may differ.
  func isSameLogin(_ credential: CheckedCredential, as other: CheckedCredential) -> Bool {
    guard let one = SupportIdentity(credential.details), let other = SupportIdentity(other.details) else {
      return false
    }
    return one.isSame(as: other) && one.isSupplied == other.isSupplied
  }

  // MARK: Renewal

  func mayAsk(for identity: IdentityRecord) -> Bool { SupportIdentity(identity.kindState)?.isSupplied == true }

  func renewsItself(_ identity: IdentityRecord) -> Bool { SupportIdentity(identity.kindState) != nil }

  func isRefusal(_ error: SDKError) -> Bool {
    error.origin == .vendor
      && (error.httpStatus == 401 || error.reason == .invalidAuth || error.reason == .agentNotAllowed)
  }

  // MARK: What outlives a wipe

  func remainder(of identity: IdentityRecord, pushes: [PushRecord]) -> [String: Secret] {
    identity.kindState.filter { $0.key == SupportIdentity.authenticationKey }
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = settings.baseURL
    endpoint.appId = settings.appId
    endpoint.appUserId = identity.user.id
    endpoint.clientId = settings.clientId
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    var headers = [
      "Authorization": Secret("Bearer \(credential.token.reveal())"), "Client-Identifier": Secret(settings.clientId),
    ]
    headers["Mobile-Sdk-Identity"] = identity.kindState[SupportIdentity.guidKey]
    return TokenHTTP(headers: headers)
  }
}
