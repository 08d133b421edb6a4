import DelegateBridge
import JSONRPC
import SDKInstances
import SDKProtocol

/// The adapter of a Chat Center instance.
final class EdnaAdapter: SDKAdapter, KeepsConnection, RegistersForPush, LeavesCleanup, AddsToSessions {
  let settings: EdnaSettings
  let wire: EdnaWire
  let clock: WallClock
  let traits: SDKTraits
  let cipher: EdnaCipher?

  init(settings: EdnaSettings, services: AdapterServices) {
    self.settings = settings
    clock = services.clock
    traits = Self.traits(settings, services.concealment)
    cipher = settings.cipher
    wire = EdnaWire(settings: settings, services: services)
  }

  private static func traits(_ settings: EdnaSettings, _ concealment: Concealment) -> SDKTraits {
    var policy = AuthenticationPolicy(
      onDenied: .keep, onBudgetSpent: .keep,
      onAnotherUser: settings.onSwitch == .logout ? .signOutFirst : .wipeOnSuccess,
      maxAttempts: settings.common.maxAttempts)
    policy.usesUnverified = false
    policy.tellsLogoutFailure = true
    var traits = SDKTraits(common: settings.common, policy: policy)
    traits.missingUser = .userNotAuthorized
    traits.persistsIdentity = settings.persistCredentials ?? true
    traits.concealment = concealment
    return traits
  }

  var capabilities: Capabilities {
    Capabilities(connection: self, push: self, cleanup: self, sessions: self)
  }

  // MARK: Before the network

  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    let auth = try EdnaState(identity.kindState).auth.answered(answer.members, now: now)
    return EdnaOffer(auth: auth).checked(expiresAt: answer.expiresAt, now: now)
  }

  func isRefusal(_ error: SDKError) -> Bool { error.origin == .vendor && error.reason == .invalidAuth }

  // MARK: At the vendor

  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    let offer = EdnaOffer(credential)
    let isSame = identity.user != .none && identity.user.externalId.hasSameBytes(as: credential.externalId)
    var state = EdnaState(isSame ? identity.kindState : [:])
    // A prefill that was set without a user belongs to the next user who signs in.
    if identity.user == .none { state.prefill = EdnaState(identity.kindState).prefill }
    state.auth = offer.auth
    state.given = offer.auth
    try identify(&state, as: Secret(credential.externalId ?? ""))
    if let data = offer.data { state.data = data }
    if offer.data != nil || state.pending?.data == nil { state.pending = nil }
    let user = User(
      externalId: credential.externalId, name: credential.name ?? (isSame ? identity.user.name : nil),
      authenticationType: .custom, authenticated: true,
      verified: offer.auth.token != nil || offer.auth.signature != nil,
      since: isSame ? identity.user.since : clock.now())
    do throws(SDKError) {
      return try await enter(
        state, as: user, expiresAt: credential.credential.expiresAt, leavesIfRefused: !isSame)
    } catch {
      var error = error
      if error.origin == .vendor { error.hints += credential.hints }
      throw error
    }
  }

  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    return try await enter(
      try renewedState(of: identity, credential), as: identity.user, expiresAt: credential.credential.expiresAt,
      leavesIfRefused: false)
  }

  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn? {
    guard let state = try? renewedState(of: identity, credential) else { return nil }
    return SignedIn(user: identity.user, credential: credential.credential, kindState: state.values)
  }

  /// Returns the identity's state with a new proof, and with the client id under the present key.
  private func renewedState(
    of identity: IdentityRecord, _ credential: CheckedCredential
  ) throws(SDKError) -> EdnaState {
    var state = EdnaState(identity.kindState)
    let wasEncrypted = state.auth.isEncrypted
    state.auth = EdnaOffer(credential).auth
    // The owner gives no other identifier with a proof, so the present one stays if the proof is for another form of it.
    if state.auth.isEncrypted == wasEncrypted { try identify(&state, as: Secret(identity.user.externalId ?? "")) }
    return state
  }

  /// Brings a user online at the installation, in the order that the vendor's SDK keeps. From the acknowledgement of
  /// `CLIENT_INFO` on the user is signed in. A history that can't be read then is read again when a chat opens.
  ///
  /// - Parameter leavesIfRefused: whether to take the user offline again if the history request shows that HTTP refuses
  ///   the credentials; `false` for a user who was signed in before.
  private func enter(
    _ state: EdnaState, as user: User, expiresAt: Timestamp?, leavesIfRefused: Bool
  ) async throws(SDKError) -> SignedIn {
    var state = state
    state.pingInterval = try await wire.pingInterval(state)
    let (connection, online) = try await wire.enter(state, name: user.name)
    var entered = online
    do throws(SDKError) {
      try await wire.probe(entered)
      entered.isHistoryDue = false
    } catch {
      guard isRefusal(error) else {
        entered.isHistoryDue = true
        return signedIn(entered, as: user, expiresAt: expiresAt, on: connection)
      }
      if leavesIfRefused { try? await connection.leave(wire.frames.clientOffline(entered)) }
      await connection.close()
      throw error
    }
    return signedIn(entered, as: user, expiresAt: expiresAt, on: connection)
  }

  private func signedIn(
    _ entered: EdnaState, as user: User, expiresAt: Timestamp?, on connection: EdnaConnection
  ) -> SignedIn {
    SignedIn(
      user: user, credential: self.credential(entered, expiresAt: expiresAt), kindState: entered.values,
      connection: connection)
  }

  /// Sets the client id that requests send: the identifier, or its ciphertext. An existing ciphertext of the same key
  /// is kept, because RSA gives another one each time.
  private func identify(_ state: inout EdnaState, as identifier: Secret) throws(SDKError) {
    guard let cipher, !state.auth.isEncrypted else {
      state.clientId = identifier.reveal()
      state.cipher = nil
      return
    }
    guard state.cipher != cipher.name || state.clientId.isEmpty else { return }
    state.clientId = try cipher.encrypt(identifier).reveal()
    state.cipher = cipher.name
  }

  /// Returns the token as a credential, or the proof of the client id where there is no token.
  private func credential(_ state: EdnaState, expiresAt: Timestamp?) -> Credential {
    Credential(
      token: state.auth.token ?? Secret(EdnaHeaders.clientToken(state) ?? ""), type: .custom, obtainedAt: clock.now(),
      expiresAt: expiresAt)
  }

  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser? {
    try await wire.probe(EdnaState(identity.kindState))
    return nil
  }

  // MARK: The connection

  let bringsUserOnline = true

  func keepsConnection(for identity: IdentityRecord) -> Bool { identity.phase == .authenticated }

  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection {
    let state = EdnaState(identity.kindState)
    let (connection, entered) = try await wire.enter(state, name: identity.user.name)
    if let address = entered.deviceAddress, address != state.deviceAddress {
      await connection.learn(
        entered.values.filter { $0.value != state.values[$0.key] },
        credential: credential(entered, expiresAt: identity.credential?.expiresAt))
    }
    return connection
  }

  // MARK: Logout

  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    let state = EdnaState(identity.kindState)
    guard let live = connection as? EdnaConnection else { return try await wire.leave(state) }
    try await live.leave(wire.frames.clientOffline(state))
  }

  func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery? {
    guard settings.retryLogout == true, let subject = identity.subject else { return nil }
    var details = EdnaState(identity.kindState).farewell
    // The logout must reach this installation even if the instance's settings name another one by then.
    details["ws_url"] = Secret(settings.wsURL)
    return Delivery("logout", details: details, now: now, endsSession: true, subject: subject)
  }

  func deliver(_ delivery: inout Delivery) async throws(SDKError) {
    var wire = wire
    if let url = delivery.details["ws_url"] { wire.settings.wsURL = url.reveal() }
    try await wire.leave(EdnaState(delivery.details))
  }

  // MARK: Push

  let pushRules = PushRules(keepsOne: true, overwrites: true, outliveUser: true)

  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? {
    try await update(push: push.address.reveal(), of: identity, on: connection)
    return nil
  }

  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    try await update(push: "", of: identity, on: connection)
  }

  private func update(
    push address: String, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) {
    let frame = wire.frames.updateDevice(push: address)
    guard let live = connection as? EdnaConnection else {
      return try await wire.briefly(EdnaState(identity.kindState)) { _ in [frame] }
    }
    _ = try await live.perform(frame)
  }

  // MARK: For apps

  func endpoint(for identity: IdentityRecord) -> Session.Endpoint {
    let state = EdnaState(identity.kindState)
    var endpoint = Session.Endpoint()
    endpoint.baseUrl = settings.restURL
    endpoint.realtimeUrl = settings.wsURL
    endpoint.clientId = state.clientId.isEmpty ? nil : state.clientId
    endpoint.deviceAddress = state.deviceAddress
    return endpoint
  }

  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP {
    EdnaHeaders(EdnaState(identity.kindState)).http
  }

  func prefill(of identity: IdentityRecord) -> (key: String, text: String)? {
    EdnaState(identity.kindState).prefill.map { (EdnaState.prefillKey, $0) }
  }

  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening {
    let state = EdnaState(identity.kindState)
    var untold = SessionOpening(data: state.latestData)
    if state.isHistoryDue {
      do throws(SDKError) {
        try await wire.probe(state)
        untold.delivered = state.values.filter { $0.key == EdnaState.historyKey }
      } catch {
        if isRefusal(error) { throw error }
      }
    }
    guard let pending = state.pending, let live = connection as? EdnaConnection else { return untold }
    do throws(SDKError) {
      _ = try await live.perform(
        wire.frames.clientInfo(state, name: identity.user.name, data: state.latestData))
    } catch {
      // The chat opens regardless, and the next `open` sends the data again.
      return untold
    }
    var told = untold
    told.delivered.merge(state.values.filter { $0.key == EdnaState.pendingKey }) { _, new in new }
    if let data = pending.data { told.learned = [EdnaState.dataKey: EdnaState.stored(data)] }
    return told
  }
}
