public import JSONRPC
public import SDKProtocol

/// The optional capabilities of an SDK; `nil` for each that it lacks.
public struct Capabilities: Sendable {
  /// The renewal of credentials without the owner.
  public var renewal: (any RenewsItself)?
  /// The creation of anonymous users.
  public var anonymousUsers: (any MakesAnonymousUsers)?
  /// The opening of sessions without a credential.
  public var guests: (any AdmitsGuests)?
  /// The realtime connection.
  public var connection: (any KeepsConnection)?
  /// The push registrations at the vendor.
  public var push: (any RegistersForPush)?
  /// The state and cleanup deliveries that remain after a wipe.
  public var cleanup: (any LeavesCleanup)?
  /// The additions to the result of `session.open`.
  public var sessions: (any AddsToSessions)?
  /// The bans of users by the vendor.
  public var bans: (any KnowsBans)?

  /// Creates a set of capabilities, by default none.
  public init(
    renewal: (any RenewsItself)? = nil, anonymousUsers: (any MakesAnonymousUsers)? = nil,
    guests: (any AdmitsGuests)? = nil, connection: (any KeepsConnection)? = nil,
    push: (any RegistersForPush)? = nil, cleanup: (any LeavesCleanup)? = nil,
    sessions: (any AddsToSessions)? = nil, bans: (any KnowsBans)? = nil
  ) {
    self.renewal = renewal
    self.anonymousUsers = anonymousUsers
    self.guests = guests
    self.connection = connection
    self.push = push
    self.cleanup = cleanup
    self.sessions = sessions
    self.bans = bans
  }

  /// Returns a capability that the caller requires.
  ///
  /// - Throws: `wrongKind` if the SDK lacks it.
  func require<Capability>(_ capability: KeyPath<Capabilities, Capability?>) throws(SDKError) -> Capability {
    if let found = self[keyPath: capability] { return found }
    throw SDKError(.state, .wrongKind, "This kind of SDK does not have this ability.")
  }
}

/// An SDK that can renew credentials without the owner.
public protocol RenewsItself: AnyObject, Sendable {
  /// Whether the SDK can renew the credential of this identity without the owner.
  func renewsItself(_ identity: IdentityRecord) -> Bool
  /// Whether a renewal uses up a single-use credential, such as a rotating refresh token. `false` by default.
  func spends(_ identity: IdentityRecord) -> Bool
  /// Renews the credential at the vendor, without the owner.
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Returns the kind's state without the refresh credential that the vendor has refused. By default nothing is
  /// removed.
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret]
  /// Returns the kind's state without the single-use credential, which may have been spent since a backup was made. By
  /// default the state after a refusal.
  func kindState(restoring identity: IdentityRecord) -> [String: Secret]
}

extension RenewsItself {
  public func spends(_ identity: IdentityRecord) -> Bool { false }
  public func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] { identity.kindState }
  public func kindState(restoring identity: IdentityRecord) -> [String: Secret] { kindState(afterRefusalOf: identity) }
}

/// An SDK in which a call that needs a user may make an anonymous one.
public protocol MakesAnonymousUsers: AnyObject, Sendable {
  /// Makes an anonymous user at the vendor.
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn
}

/// An SDK whose sessions can open without a credential: for a guest, or an anonymous visitor.
public protocol AdmitsGuests: AnyObject, Sendable {
  /// Whether a session opens for this identity without a credential.
  func opensWithoutCredential(_ identity: IdentityRecord) -> Bool
  /// Whether this anonymous identity is of a user who was set, and who signs in at the vendor when a session opens or a
  /// token is needed. `false` by default.
  func isPrepared(_ identity: IdentityRecord) -> Bool
}

extension AdmitsGuests {
  public func isPrepared(_ identity: IdentityRecord) -> Bool { false }
}

/// An SDK with a realtime connection.
public protocol KeepsConnection: AnyObject, Sendable {
  /// Whether a connection is kept while this identity is signed in.
  func keepsConnection(for identity: IdentityRecord) -> Bool
  /// Whether the connection itself brings the user online at the vendor. `false` by default.
  var bringsUserOnline: Bool { get }
  /// Opens the realtime connection for this identity.
  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection
}

extension KeepsConnection {
  public var bringsUserOnline: Bool { false }
}

/// An SDK with push registrations.
public protocol RegistersForPush: AnyObject, Sendable {
  /// The rules for the end of registrations.
  var pushRules: PushRules { get }
  /// Checks a device before anything is requested for it. By default every device is accepted.
  func check(_ endpoint: PushEndpoint) throws(RPCError)
  /// Registers a device for push at the vendor. `push` has no vendor id yet.
  ///
  /// - Returns: the vendor's id of the registration.
  func register(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> String?
  /// Removes a registration at the vendor.
  func unregister(
    _ push: PushRecord, of identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError)
}

extension RegistersForPush {
  public func check(_ endpoint: PushEndpoint) throws(RPCError) {}
}

/// An SDK that keeps state after a wipe of the identity, or must then still notify the vendor. By default it does
/// neither.
public protocol LeavesCleanup: AnyObject, Sendable {
  /// Returns the retained state, which an identity keeps through a wipe, such as a client id.
  ///
  /// - Parameter pushes: the registrations that the vendor may still have.
  func remainder(of identity: IdentityRecord, pushes: [PushRecord]) -> [String: Secret]
  /// Returns the cleanup deliveries for the vendor when this identity is wiped.
  ///
  /// - Parameter isInformed: whether the vendor has ended the session already.
  func farewell(to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp) -> [Delivery]
  /// Returns the cleanup delivery that logs out a user whom another user's login replaced, using the credential of this
  /// identity; `nil` if none is needed.
  func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// Returns the cleanup delivery that retries a failed logout; `nil` if the kind has none. The user stays signed in
  /// until it succeeds.
  func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery?
  /// Returns the keys of the sessions that a delivery ends (`KindRules.sessionKeys`): by default the user's, if it ends
  /// a session.
  func sessionKeys(endedBy delivery: Delivery) -> Set<Secret>
  /// Whether a successful delivery may have ended the push registrations of the present user: by default, if it ends a
  /// session. A vendor that has one registration for each client ends it with the logout of any user of that client.
  func endsPushes(_ delivery: Delivery) -> Bool
  /// Returns the part of a delivery that does not end a credential which an identity uses; `nil` if no part is left.
  func sparing(_ identity: IdentityRecord, in delivery: Delivery) -> Delivery?
  /// Sends a cleanup delivery to the vendor. If the error's origin is `unreachable`, the delivery is tried again; after
  /// any other error it is abandoned. The next attempt gets the details as this one leaves them, for example with a
  /// refresh token that it has rotated.
  func deliver(_ delivery: inout Delivery) async throws(SDKError)
  /// Returns the rest of a delivery that has succeeded, which is made next; `nil`, the default, for none. What may end a
  /// credential is a delivery by itself, so that a login during the part before it can spare that credential.
  func rest(of delivery: Delivery) -> Delivery?
}

extension LeavesCleanup {
  public func remainder(of identity: IdentityRecord, pushes: [PushRecord]) -> [String: Secret] { [:] }
  public func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] { [] }
  public func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
  public func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
  public func sessionKeys(endedBy delivery: Delivery) -> Set<Secret> {
    delivery.endsSession ? delivery.subject.map { [$0] } ?? [] : []
  }
  public func endsPushes(_ delivery: Delivery) -> Bool { delivery.endsSession }
  public func sparing(_ identity: IdentityRecord, in delivery: Delivery) -> Delivery? { delivery }
  public func rest(of delivery: Delivery) -> Delivery? { nil }
}

/// An SDK that adds data of its own to the result of `session.open`.
public protocol AddsToSessions: AnyObject, Sendable {
  /// Returns the text with which the app fills its input field, and its key in the kind's state; `nil`, the default,
  /// for none. It is removed from the identity before the response, so that only one session gets it.
  func prefill(of identity: IdentityRecord) -> (key: String, text: String)?
  /// Returns the kind's additions to a session that is being opened. May contact the vendor.
  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening
}

extension AddsToSessions {
  public func prefill(of identity: IdentityRecord) -> (key: String, text: String)? { nil }
}

/// An SDK whose vendor can ban users.
public protocol KnowsBans: AnyObject, Sendable {
  /// Returns the reason why a session of this identity must show no content, even with a valid credential; `nil` if it
  /// may.
  func hidden(_ identity: IdentityRecord) -> Session.HiddenReason?
  /// Returns the error with which the credential of this identity is not issued, although it is valid; `nil` if it may
  /// be issued.
  func withheld(_ identity: IdentityRecord) -> SDKError?
}

/// A kind's additions to an opened session.
public struct SessionOpening: Sendable, Hashable {
  /// The reason why the session must show no content; `nil` if it may.
  public var hidden: Session.HiddenReason?
  /// Data about the user for the member `data` of the session.
  public var data: [String: String]?
  /// The fields that the visitor may edit.
  public var editableFields: [String]
  /// The members of the kind's state that this session delivers. They are removed from the identity, so that no later
  /// session delivers them again.
  public var delivered: [String: Secret]
  /// New members of the kind's state, which are stored in the identity.
  public var learned: [String: Secret]

  /// Creates an opening, by default without additions.
  public init(
    hidden: Session.HiddenReason? = nil, data: [String: String]? = nil, editableFields: [String] = [],
    delivered: [String: Secret] = [:], learned: [String: Secret] = [:]
  ) {
    self.hidden = hidden
    self.data = data
    self.editableFields = editableFields
    self.delivered = delivered
    self.learned = learned
  }
}
