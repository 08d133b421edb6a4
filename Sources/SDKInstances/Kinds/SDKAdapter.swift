public import DelegateBridge
import JSONRPC
public import SDKProtocol

/// The part of a kind that serves one instance: it applies the instance's settings and communicates with the vendor. It
/// holds no state of the user: it receives the identity, and returns changes to it in results.
public protocol SDKAdapter: KindRules, VendorCalls {
  /// The SDK's capabilities beyond signing a user in, renewing with the owner's credential, and signing out.
  var capabilities: Capabilities { get }
}

/// The decisions that a kind makes without the network. They have no side effects.
public protocol KindRules: AnyObject, Sendable {
  /// The properties of the SDK that do not depend on the user.
  var traits: SDKTraits { get }
  /// Checks the credential in an answer of the bridge and returns it; `nil` if the owner declines to give one.
  ///
  /// - Throws: `providerOutputInvalid` for a credential that can't be valid.
  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential?
  /// Whether a credential belongs to the identity's user; `nil` if that can't be determined. By default the external
  /// ids decide. They compare as bytes, as at the vendors: Swift's equality takes two spellings of a letter for one.
  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool?
  /// Whether two credentials of callers are for the same login, so that callers share its outcome. By default they are
  /// equal.
  func isSameLogin(_ credential: CheckedCredential, as other: CheckedCredential) -> Bool
  /// Returns the keys of the identity's session at the vendor, which a logout with its credential ends: by default the
  /// user. Two identities with a common key have the same session.
  func sessionKeys(of identity: IdentityRecord) -> Set<Secret>
  /// Returns the keys of the session that a login with this credential has: by default the external id. `nil` if only
  /// the vendor knows.
  func sessionKeys(of credential: CheckedCredential) -> Set<Secret>?
  /// Whether a credential for this identity may be requested from the owner. By default it may in the phases
  /// `authenticated` and `reauthNeeded`.
  func mayAsk(for identity: IdentityRecord) -> Bool
  /// Whether an error means that the vendor refused the credential. By default an error with HTTP status 401 does.
  func isRefusal(_ error: SDKError) -> Bool
  /// Returns the result of a renewed credential that is not shown to the vendor first: to adopt it, or to log out with
  /// it. `nil`, the default, if only the credential changes.
  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn?
  /// Returns the vendor's URLs and ids for the result of `session.open`.
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint
  /// Returns the headers and cookies that carry a credential in an HTTP request.
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP
}

/// The requests to the vendor that every kind makes.
public protocol VendorCalls: AnyObject, Sendable {
  /// Logs in at the vendor with a credential. `identity` is the one before the login.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Shows a renewed credential of the same user to the vendor, or exchanges it for the vendor's own credential.
  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Checks whether the vendor accepts a credential. Throws if it does not.
  ///
  /// - Returns: what the vendor said about the user and the identity does not have yet; `nil` for nothing.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError) -> LearnedUser?
  /// Ends the user's session at the vendor. `connection` is the open realtime connection; `nil` without one.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)
}

extension KindRules {
  public func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool? {
    guard let named = credential.externalId, let known = identity.user.externalId else { return nil }
    return named.hasSameBytes(as: known)
  }
  public func isSameLogin(_ credential: CheckedCredential, as other: CheckedCredential) -> Bool {
    credential.isSame(as: other)
  }
  public func sessionKeys(of identity: IdentityRecord) -> Set<Secret> { identity.subject.map { [$0] } ?? [] }
  public func sessionKeys(of credential: CheckedCredential) -> Set<Secret>? {
    credential.externalId.map { [Secret($0)] }
  }
  public func mayAsk(for identity: IdentityRecord) -> Bool {
    identity.phase == .authenticated || identity.phase == .reauthNeeded
  }
  public func isRefusal(_ error: SDKError) -> Bool { error.origin == .vendor && error.httpStatus == 401 }
  public func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn? { nil }
}

/// Data about the signed-in user that a check at the vendor brought.
public struct LearnedUser: Sendable, Hashable {
  /// The vendor's id of the user.
  public var id: String
  /// Members of the kind's state to store in the identity.
  public var kindState: [String: Secret]

  /// Creates data about a user.
  public init(id: String, kindState: [String: Secret] = [:]) {
    self.id = id
    self.kindState = kindState
  }
}

/// The properties of an SDK with an instance's settings that do not depend on the user.
public struct SDKTraits: Sendable {
  /// The settings that all kinds have.
  public let common: CommonSettings
  /// The policy of the authentication state machine: what follows from a failed renewal, a denial by the owner, and
  /// another user's login.
  public let policy: AuthenticationPolicy
  /// The services of the instance, each with its own user; none for most kinds.
  public var services: [String] = []
  /// The error reason of a call that needs a user when there is none; `nil` if `session.open` reports it in its result.
  public var missingUser: Reason?
  /// Whether the identity is kept on disk, so that users stay signed in over a restart.
  public var persistsIdentity = true
  /// Whether the user's external id is a secret. Observers and events then get a digest of it.
  public var concealsExternalId: Bool { concealment != nil }
  /// The concealment of external ids that are secrets; `nil` where they are none.
  public var concealment: Concealment?
  /// Whether the app can show earlier conversations: the member `history` of a session.
  public var hasHistory = true
  /// The question that requests a credential from the owner. `nil` for the usual ones: `getToken`, and `invalidAuth`
  /// after a refusal.
  public var question: BridgeQuestion.Name?
  /// The error reason of a refusal after which no credential is requested from the owner, since the vendor would refuse
  /// that too; `nil` for none.
  public var finalReason: Reason?
  /// The state that is stored in the identity when an app reports a refusal (`token.reject`), by the vendor's error
  /// code in the report.
  public var reportNotes: [String: [String: Secret]] = [:]

  /// Creates the traits of an SDK with one user, a credential that the owner supplies, and nothing else.
  public init(common: CommonSettings, policy: AuthenticationPolicy) {
    self.common = common
    self.policy = policy
  }

  /// Returns the question that requests a credential.
  func question(isRefusal: Bool) -> BridgeQuestion.Name { question ?? (isRefusal ? .invalidAuth : .getToken) }
}
