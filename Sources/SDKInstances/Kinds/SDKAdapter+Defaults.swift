public import DelegateBridge
public import SDKProtocol

extension SDKAdapter {
  public var services: [String] { [] }
  public var makesAnonymousUsers: Bool { false }
  public func opensWithoutCredential(_ identity: IdentityRecord) -> Bool { false }
  public var missingUser: Reason? { nil }
  public var persistsIdentity: Bool { true }
  public var concealsExternalId: Bool { false }
  public var hasHistory: Bool { true }

  public func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let named = credential.externalId, let known = identity.user.externalId else { return nil }
    return named == known
  }

  public func subject(of identity: IdentityRecord) -> Secret? {
    (identity.user.externalId ?? identity.user.id).map { Secret($0) }
  }

  public func mayAsk(for identity: IdentityRecord) -> Bool {
    identity.phase == .authenticated || identity.phase == .reauthNeeded
  }
  public func question(isRefusal: Bool) -> BridgeQuestion.Name { isRefusal ? .invalidAuth : .getToken }
  public func renewsItself(_ identity: IdentityRecord) -> Bool { false }
  public func spends(_ identity: IdentityRecord) -> Bool { false }
  public func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    throw SDKError(.provider, .noProvider, "This SDK renews nothing by itself; configure a token provider.")
  }
  public func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn? { nil }
  public func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] { identity.kindState }
  public func isRefusal(_ error: SDKError) -> Bool { error.origin == .vendor && error.httpStatus == 401 }
  public func isFinal(_ error: SDKError) -> Bool { false }

  public func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn {
    throw SDKError(.state, .notAuthenticated, "This SDK has no anonymous users; log in first.")
  }

  public func note(ofReport code: String?) -> [String: Secret]? { nil }

  public func keepsConnection(for identity: IdentityRecord) -> Bool { false }
  public func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection {
    throw SDKError(.unreachable, .network, "This SDK keeps no connection.")
  }

  public func remainder(of identity: IdentityRecord) -> [String: Secret] { [:] }
  public func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] { [] }
  public func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
  public func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
  public func deliver(_ delivery: Delivery) async throws(SDKError) {}

  public func pushFarewell(isInformed: Bool) -> PushFarewell { .removed }
  public var keepsOnePush: Bool { false }
  public var overwritesPush: Bool { false }
  public func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String? { throw Self.noPush }
  public func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) { throw Self.noPush }

  private static var noPush: SDKError {
    SDKError(.state, .wrongKind, "This kind of SDK has no public contract for push; register with the vendor's app.")
  }

  public func prefill(of identity: IdentityRecord) -> (key: String, text: String)? { nil }
  public func hidden(_ identity: IdentityRecord) -> Session.HiddenReason? { nil }
  public func withheld(_ identity: IdentityRecord) -> SDKError? { nil }
  public func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening { SessionOpening() }
}
