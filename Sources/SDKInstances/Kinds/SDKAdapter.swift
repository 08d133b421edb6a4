public import DelegateBridge
public import SDKProtocol

/// An SDK as one instance uses it: its settings and its talk with the vendor. It holds no state of its own: what it
/// needs comes with the identity, what it learns goes back with the result.
///
/// What a kind does not say is as it is for an SDK with one user, a credential that the owner supplies, and nothing
/// else: see the extension.
public protocol SDKAdapter: Sendable {
  /// The settings that all kinds have.
  var common: CommonSettings { get }
  /// What failure, denial and another user mean here.
  var policy: AuthenticationPolicy { get }
  /// The services of the instance, each with its own user; none for most kinds.
  var services: [String] { get }
  /// Whether a call that needs a user may make an anonymous one.
  var makesAnonymousUsers: Bool { get }
  /// Whether a session opens for this identity without a credential: a guest, an anonymous visitor.
  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool
  /// What a call that needs a user answers when there is none; `nil` when `session.open` says so in its result.
  var missingUser: Reason? { get }
  /// Whether the identity is kept on disk, so that a restart signs nobody out.
  var persistsIdentity: Bool { get }
  /// Whether the user's external id is a secret, of which observers and events get a digest.
  var concealsExternalId: Bool { get }
  /// Whether there is a history to show.
  var hasHistory: Bool { get }

  // MARK: Before the network

  /// The credential in an answer of the bridge, checked; `nil` when the owner wants none.
  ///
  /// - Throws: `providerOutputInvalid` for one that can't be right.
  func check(
    _ answer: BridgeAnswer, for identity: IdentityRecord, now: Timestamp
  ) throws(SDKError) -> CheckedCredential?

  /// Whether a credential is one of the identity's user: `nil` when nobody can tell.
  func isSameUser(_ credential: CheckedCredential, as identity: IdentityRecord) -> Bool?

  /// What names the user of an identity, for what outlives it; `nil` for nobody.
  func subject(of identity: IdentityRecord) -> Secret?

  // MARK: Renewal

  /// Whether the owner can be asked for a credential of this identity.
  func mayAsk(for identity: IdentityRecord) -> Bool
  /// The question that asks for a credential.
  func question(isRefusal: Bool) -> BridgeQuestion.Name
  /// Whether the SDK can renew the credential of this identity without the owner.
  func renewsItself(_ identity: IdentityRecord) -> Bool
  /// Whether that spends something that can be used once, such as a rotating refresh token.
  func spends(_ identity: IdentityRecord) -> Bool
  /// Renews the credential without the owner.
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Shows a renewed credential of the same user to the vendor, or exchanges it there.
  func renew(with credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// What the identity becomes with a credential that the vendor can't be asked about now; `nil` when nothing but the
  /// credential changes.
  func unverified(_ credential: CheckedCredential, of identity: IdentityRecord) -> SignedIn?
  /// What the kind keeps when the vendor has refused what the SDK renews with: not that.
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret]
  /// Whether an error is the vendor's refusal of the credential itself.
  func isRefusal(_ error: SDKError) -> Bool
  /// Whether nothing that the owner could supply helps against a refusal.
  func isFinal(_ error: SDKError) -> Bool

  // MARK: At the vendor

  /// Shows a credential to the vendor as a login; the identity is the one that stands now.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Ends the session at the vendor; `connection` is the one that is open.
  func signOut(
    _ credential: Credential?, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)
  /// Makes an anonymous user at the vendor.
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// What an app's report of a refusal, with this code of the vendor's, tells beyond the refusal: kept with the
  /// identity.
  func note(ofReport code: String?) -> [String: Secret]?
  /// Asks the vendor whether it knows this credential.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError)

  // MARK: Realtime

  /// Whether a connection is kept while this identity is signed in.
  func keepsConnection(for identity: IdentityRecord) -> Bool
  /// Opens it.
  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection

  // MARK: What outlives a wipe

  /// What an identity keeps through a wipe, such as a client id.
  func remainder(of identity: IdentityRecord) -> [String: Secret]
  /// What the vendor must still be told when this identity is wiped.
  ///
  /// - Parameter isInformed: whether the vendor has ended the session.
  func farewell(to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp) -> [Delivery]
  /// What tells the vendor, with the credential of this identity, that its user was replaced by another one.
  func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// What must be told later when a logout has failed; the user stays until then.
  func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// Tells the vendor. An error whose origin is not `unreachable` gives the delivery up.
  func deliver(_ delivery: Delivery) async throws(SDKError)

  // MARK: Push

  /// What becomes of push registrations when their user goes.
  func pushFarewell(isInformed: Bool) -> PushFarewell
  /// Whether a new registration takes the place of the service's former one.
  var keepsOnePush: Bool { get }
  /// Whether the vendor itself puts a new registration in the place of the former one, which so needs no removal.
  var overwritesPush: Bool { get }
  /// Registers; the record has no vendor id yet.
  ///
  /// - Returns: what the vendor calls it.
  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String?
  /// Unregisters.
  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)

  // MARK: For apps

  /// Where the vendor is, for `session.open`.
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint
  /// How a credential is put on a request.
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP
  /// Texts for the input field that are given once; taken out of the identity before they are answered.
  func prefill(of identity: IdentityRecord) -> (key: String, text: String)?
  /// Why nothing may be shown to this identity, whatever its credential; `nil` when nothing is known against it.
  func hidden(_ identity: IdentityRecord) -> Session.HiddenReason?
  /// Why no credential of this identity is issued, although it is valid; `nil` when nothing is known against it.
  func withheld(_ identity: IdentityRecord) -> SDKError?
  /// What else belongs to an opened session; may talk to the vendor.
  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening
}
