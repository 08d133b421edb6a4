import DelegateBridge
import JSONRPC
public import SDKProtocol

@testable import SDKInstances

/// An adapter whose tokens are plain words: `alice#1` never expires, `alice#1@60` a minute after the clock's start. A
/// login with `alice#1~` reaches the vendor only when a call needs the user. A credential may be requested from the
/// owner for a known user, and for an anonymous one after such a login.
final class FakeAdapter: SDKAdapter, MakesAnonymousUsers, AdmitsGuests, KeepsConnection, RegistersForPush,
  LeavesCleanup, AddsToSessions, RenewsItself
{
  let vendor: FakeVendor
  let traits: SDKTraits
  let pushRules: PushRules
  private let settings: JSONObject

  /// An adapter with settings as `FakeKind` describes them.
  init(vendor: FakeVendor, common: CommonSettings, policy: AuthenticationPolicy, settings: JSONObject) {
    self.vendor = vendor
    self.settings = settings
    pushRules = PushRules(
      keepsOne: settings["one_push"]?.boolValue ?? false, overwrites: settings["overwrites"]?.boolValue ?? false,
      outliveUser: settings["orphans"]?.boolValue ?? false)
    var traits = SDKTraits(common: common, policy: policy)
    traits.services = settings["services"]?.arrayValue?.compactMap(\.stringValue) ?? []
    traits.persistsIdentity = settings["forgets"]?.boolValue != true
    self.traits = traits
  }

  var capabilities: Capabilities {
    Capabilities(
      renewal: isSet("renews") ? self : nil,
      anonymousUsers: settings["anonymous"]?.boolValue == false ? nil : self, guests: self, connection: self,
      push: self, cleanup: self, sessions: self)
  }

  private func isSet(_ name: String) -> Bool { settings[name]?.boolValue ?? false }

  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential {
    let text = token.reveal()
    guard let hash = text.firstIndex(of: "#") else {
      throw SDKError(.local, .failedToDecodeJWT, "The token can't be read.")
    }
    let end = text.firstIndex(of: "@").flatMap { Double(text[text.index(after: $0)...]) }.map { ManualClock.start + $0 }
    if let end, end <= now { throw SDKError(.local, .expiredJWT, "The JWT has expired; bring a new one.") }
    let user = String(text[..<hash])
    return CheckedCredential(
      credential: Credential(token: token, type: .jwt, obtainedAt: now, expiresAt: end),
      externalId: user == "opaque" ? nil : user)
  }

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    guard let token = answer.token else { throw SDKError(.provider, .providerOutputInvalid, "There is no token.") }
    do throws(SDKError) {
      return try check(token, now: now)
    } catch {
      throw SDKError(.provider, .providerOutputInvalid, error.message)
    }
  }

  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let isKnown = identity.phase == .authenticated || identity.phase == .reauthNeeded
    if credential.credential.token.reveal().hasSuffix("~") {
      return SignedIn(
        user: identity.user, credential: identity.credential, kindState: ["asks": "yes"],
        prepared: isKnown ? .authenticated : .anonymous, events: [.identityChanged], supply: credential)
    }
    try await vendor.perform(.signIn, credential.credential.token.reveal())
    return SignedIn(
      user: User(
        id: "v-\(credential.externalId ?? "")", externalId: credential.externalId, authenticationType: .jwt,
        authenticated: true, verified: true),
      credential: credential.credential, kindState: ["client": "c1"])
  }

  func renew(
    with credential: CheckedCredential, of identity: IdentityRecord
  ) async throws(SDKError) -> SignedIn {
    try await vendor.perform(.verify, credential.credential.token.reveal())
    var user = identity.user
    if user == .none {
      user = User(
        externalId: credential.externalId, authenticationType: .jwt, authenticated: true, verified: true)
    }
    return SignedIn(
      user: user, credential: credential.credential, kindState: identity.kindState,
      isIrreplaceable: credential.credential.token.reveal().contains("!"))
  }

  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    vendor.signOutURLs.add(settings["base_url"]?.stringValue ?? "")
    try await vendor.perform(.signOut, credential?.token.reveal() ?? "nothing")
  }

  func mayAsk(for identity: IdentityRecord) -> Bool {
    let hasUser = identity.phase == .authenticated || identity.phase == .reauthNeeded
    return hasUser || identity.phase == .anonymous && identity.kindState["asks"] != nil
  }

  func renewsItself(_ identity: IdentityRecord) -> Bool { identity.kindState["refresh"] != nil }
  func spends(_ identity: IdentityRecord) -> Bool { renewsItself(identity) }
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] {
    identity.kindState.filter { $0.key != "refresh" }
  }
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    throw SDKError(.vendor, .invalidAuth, "Only walks of the state renew so.", httpStatus: 401)
  }

  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool { traits.policy.onFailure == .fallBack }

  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening {
    guard traits.policy.onFailure == .fallBack else { return SessionOpening() }
    try await vendor.perform(.open, identity.phase == .authenticated ? identity.user.externalId ?? "" : "nobody")
    return SessionOpening()
  }

  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let name = "anonymous\(vendor.nextAnonymous())"
    try await vendor.perform(.makeAnonymous, name)
    return SignedIn(
      user: User(id: name, authenticationType: .sessionToken, authenticated: false, verified: false),
      credential: Credential(
        token: Secret("s-\(name)"), type: .sessionToken, obtainedAt: ManualClock.start, expiresAt: nil))
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    try await vendor.perform(.probe, credential.token.reveal())
    return nil
  }

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = settings["base_url"]?.stringValue
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    TokenHTTP(headers: ["Authorization": Secret("Bearer \(credential.token.reveal())")])
  }

  func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] {
    guard isSet("farewell"), !isInformed, let token = identity.credential?.token else { return [] }
    var delivery = Delivery("revoke", details: ["token": token], now: now)
    if isSet("farewell_ends") { delivery.endsAtSignIn = true }
    return [delivery]
  }

  func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery? {
    guard traits.policy.onAnotherUser == .signOutAfter, let token = identity.credential?.token else { return nil }
    return Delivery(
      "logout", details: ["token": token], now: now, endsSession: true, subject: identity.subject)
  }

  func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery? {
    guard isSet("retry"), let token = identity.credential?.token else { return nil }
    return Delivery(
      "logout", details: ["token": token], now: now, endsSession: true, subject: identity.subject)
  }

  func sparing(_ identity: IdentityRecord, in delivery: Delivery) -> Delivery? {
    delivery.details["token"] == identity.credential?.token ? nil : delivery
  }

  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    try await vendor.perform(.deliver, delivery.details["token"]?.reveal() ?? "")
  }

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    try await vendor.perform(.push, push.address.reveal())
    return "v-\(push.address.reveal())"
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    try await vendor.perform(.unpush, push.vendorId ?? "")
  }

  func keepsConnection(for identity: IdentityRecord) -> Bool { isSet("realtime") }

  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection {
    try await vendor.perform(.connect, identity.credential?.token.reveal() ?? "nothing")
    return vendor.connection(of: identity.user.id ?? "")
  }

  func remainder(of identity: IdentityRecord, pushes: [PushRecord]) -> [String: Secret] {
    identity.kindState.filter { $0.key == "client" }
  }
}

extension Secret: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self.init(value) }
}
