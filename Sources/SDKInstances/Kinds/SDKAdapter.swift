public import DelegateBridge
public import SDKProtocol

/// An SDK as one instance uses it: its settings and its communication with the vendor. It holds no state: it receives
/// the identity, and returns changes to it in results.
///
/// The defaults are those of an SDK with one user, a credential that the owner supplies, and nothing else: see the
/// extension.
public protocol SDKAdapter: Sendable {
  /// The settings that all kinds have.
  var common: CommonSettings { get }
  /// The kind's policy for failure, denial and another user.
  var policy: AuthenticationPolicy { get }
  /// The services of the instance, each with its own user; none for most kinds.
  var services: [String] { get }
  /// Whether a call that needs a user may make an anonymous one.
  var makesAnonymousUsers: Bool { get }
  /// Whether a session opens for this identity without a credential: a guest, an anonymous visitor.
  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool
  /// The error reason of a call that needs a user when there is none; `nil` if `session.open` reports it in its result.
  var missingUser: Reason? { get }
  /// Whether the identity is kept on disk, so that users stay signed in over a restart.
  var persistsIdentity: Bool { get }
  /// Whether the user's external id is a secret. Observers and events then get a digest of it.
  var concealsExternalId: Bool { get }
  /// Whether there is a history to show.
  var hasHistory: Bool { get }

  // MARK: Before the network

  /// Checks the credential in an answer of the bridge and returns it; `nil` when the owner wants none.
  ///
  /// - Throws: `providerOutputInvalid` for a credential that can't be valid.
  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential?

  /// Whether a credential belongs to the identity's user; `nil` if that can't be determined.
  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool?

  /// Returns a name of the identity's user, for records that outlive the identity; `nil` without a user.
  func subject(of identity: IdentityRecord) -> Secret?

  // MARK: Renewal

  /// Whether a credential for this identity may be requested from the owner.
  func mayAsk(for identity: IdentityRecord) -> Bool
  /// Returns the question that requests a credential.
  func question(isRefusal: Bool) -> BridgeQuestion.Name
  /// Whether the SDK can renew the credential of this identity without the owner.
  func renewsItself(_ identity: IdentityRecord) -> Bool
  /// Whether renewing without the owner spends a single-use credential, such as a rotating refresh token.
  func spends(_ identity: IdentityRecord) -> Bool
  /// Renews the credential without the owner.
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Shows a renewed credential of the same user to the vendor, or exchanges it there.
  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Returns the identity with a credential that can't be shown to the vendor now; `nil` when only the credential
  /// changes.
  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn?
  /// Returns the kind's state without the renewal credential that the vendor has refused.
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret]
  /// Whether an error is the vendor's refusal of the credential itself.
  func isRefusal(_ error: SDKError) -> Bool
  /// Whether no credential that the owner could supply helps against a refusal.
  func isFinal(_ error: SDKError) -> Bool

  // MARK: At the vendor

  /// Shows a credential to the vendor as a login. `identity` is the present one.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Ends the session at the vendor. `connection` is the open connection, if there is one.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)
  /// Makes an anonymous user at the vendor.
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Returns the state that the identity keeps after an app has reported a refusal with this vendor code; `nil` for
  /// none.
  func note(ofReport code: String?) -> [String: Secret]?
  /// Checks with the vendor that a credential is accepted. Throws when it is not.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError)

  // MARK: Realtime

  /// Whether a connection is kept while this identity is signed in.
  func keepsConnection(for identity: IdentityRecord) -> Bool
  /// Opens the connection.
  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection

  // MARK: What outlives a wipe

  /// Returns the retained state, which an identity keeps through a wipe, such as a client id.
  func remainder(of identity: IdentityRecord) -> [String: Secret]
  /// Returns the cleanup deliveries for the vendor when this identity is wiped.
  ///
  /// - Parameter isInformed: whether the vendor has ended the session already.
  func farewell(to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp) -> [Delivery]
  /// Returns the delivery that logs out a user who was replaced by another one, with the credential of this identity.
  func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// Returns the delivery that retries a failed logout. The user stays until then.
  func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// Sends a delivery to the vendor. An error whose origin is not `unreachable` abandons the delivery.
  func deliver(_ delivery: Delivery) async throws(SDKError)

  // MARK: Push

  /// Returns the treatment of push registrations when their user is gone from the instance.
  func pushFarewell(isInformed: Bool) -> PushFarewell
  /// Whether a new registration replaces the service's former one.
  var keepsOnePush: Bool { get }
  /// Whether the vendor itself replaces the former registration by a new one, so that it needs no removal.
  var overwritesPush: Bool { get }
  /// Registers at the vendor. The record has no vendor id yet.
  ///
  /// - Returns: the vendor's id of the registration.
  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String?
  /// Removes a registration at the vendor.
  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)

  // MARK: For apps

  /// Returns the vendor's endpoint, for `session.open`.
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint
  /// Returns the HTTP parts that put a credential on a request.
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP
  /// Returns the text for the input field, which is given once. It is removed from the identity before the response.
  func prefill(of identity: IdentityRecord) -> (key: String, text: String)?
  /// Returns the reason to show nothing to this identity, whatever its credential; `nil` for none.
  func hidden(_ identity: IdentityRecord) -> Session.HiddenReason?
  /// Returns the reason not to issue a credential of this identity, although it is valid; `nil` for none.
  func withheld(_ identity: IdentityRecord) -> SDKError?
  /// Returns the kind's additions to an opened session. May contact the vendor.
  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening
}
