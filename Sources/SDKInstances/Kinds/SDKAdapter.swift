public import DelegateBridge
public import SDKProtocol

/// An SDK as one instance uses it: its settings and its communication with the vendor. It holds no state of the user:
/// it receives the identity, and returns changes to it in results.
public protocol SDKAdapter: KindRules, VendorCalls {
  /// The SDK's capabilities beyond signing a user in, renewing with the owner's credential, and signing out.
  var capabilities: Capabilities { get }
}

/// The decisions that a kind makes without the network. All of them are pure.
public protocol KindRules: AnyObject, Sendable {
  /// The facts that do not depend on the user.
  var traits: SDKTraits { get }
  /// Checks the credential in an answer of the bridge and returns it; `nil` when the owner wants none.
  ///
  /// - Throws: `providerOutputInvalid` for a credential that can't be valid.
  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential?
  /// Whether a credential belongs to the identity's user; `nil` if that can't be determined. By default the external
  /// ids decide.
  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool?
  /// Whether a credential for this identity may be requested from the owner. By default it may for a known user.
  func mayAsk(for identity: IdentityRecord) -> Bool
  /// Whether an error is the vendor's refusal of the credential itself. By default it is one with status 401.
  func isRefusal(_ error: SDKError) -> Bool
  /// Returns the identity with a credential that can't be shown to the vendor now; `nil`, the default, when only the
  /// credential changes.
  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn?
  /// Returns the vendor's endpoint, for `session.open`.
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint
  /// Returns the HTTP parts that put a credential on a request.
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP
}

/// The requests to the vendor that every kind makes.
public protocol VendorCalls: AnyObject, Sendable {
  /// Shows a credential to the vendor as a login. `identity` is the present one.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Shows a renewed credential of the same user to the vendor, or exchanges it there.
  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Checks with the vendor that a credential is accepted. Throws when it is not.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError)
  /// Ends the session at the vendor. `connection` is the open connection, if there is one.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)
}

extension KindRules {
  public func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let named = credential.externalId, let known = identity.user.externalId else { return nil }
    return named == known
  }
  public func mayAsk(for identity: IdentityRecord) -> Bool {
    identity.phase == .authenticated || identity.phase == .reauthNeeded
  }
  public func isRefusal(_ error: SDKError) -> Bool { error.origin == .vendor && error.httpStatus == 401 }
  public func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn? { nil }
}

/// The facts about an SDK with an instance's settings that do not depend on its user.
public struct SDKTraits: Sendable {
  /// The settings that all kinds have.
  public let common: CommonSettings
  /// The policy for failure, denial and another user.
  public let policy: AuthenticationPolicy
  /// The services of the instance, each with its own user; none for most kinds.
  public var services: [String] = []
  /// The error reason of a call that needs a user when there is none; `nil` if `session.open` reports it in its result.
  public var missingUser: Reason?
  /// Whether the identity is kept on disk, so that users stay signed in over a restart.
  public var persistsIdentity = true
  /// Whether the user's external id is a secret. Observers and events then get a digest of it.
  public var concealsExternalId = false
  /// Whether there is a history to show.
  public var hasHistory = true
  /// The question that requests a credential, if it is another one than `getToken`, and `invalidAuth` after a refusal.
  public var question: BridgeQuestion.Name?
  /// The reason of a refusal after which no credential of the owner helps.
  public var finalReason: Reason?
  /// The state that the identity keeps after an app has reported a refusal with a vendor code, by the code.
  public var reportNotes: [String: [String: Secret]] = [:]

  /// The traits of an SDK with one user, a credential that the owner supplies, and nothing else.
  public init(common: CommonSettings, policy: AuthenticationPolicy) {
    self.common = common
    self.policy = policy
  }

  /// Returns the question that requests a credential.
  func question(isRefusal: Bool) -> BridgeQuestion.Name { question ?? (isRefusal ? .invalidAuth : .getToken) }
}
