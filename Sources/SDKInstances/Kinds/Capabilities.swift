public import SDKProtocol

/// The optional capabilities of an SDK; `nil` for each that it lacks.
public struct Capabilities: Sendable {
  /// Renews credentials without the owner.
  public var renewal: (any RenewsItself)?
  /// Makes anonymous users.
  public var anonymousUsers: (any MakesAnonymousUsers)?
  /// Opens sessions without a credential.
  public var guests: (any AdmitsGuests)?
  /// Keeps a realtime connection.
  public var connection: (any KeepsConnection)?
  /// Registers for push.
  public var push: (any RegistersForPush)?
  /// Leaves state or cleanup at the vendor that outlives a wipe.
  public var cleanup: (any LeavesCleanup)?
  /// Adds to opened sessions.
  public var sessions: (any AddsToSessions)?
  /// Knows of bans.
  public var bans: (any KnowsBans)?

  /// Capabilities, by default none.
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

  /// Returns a capability that the caller has seen before.
  ///
  /// - Throws: `wrongKind` if the SDK lacks it.
  func require<Capability>(_ capability: KeyPath<Capabilities, Capability?>) throws(SDKError) -> Capability {
    if let found = self[keyPath: capability] { return found }
    throw SDKError(.state, .wrongKind, "This kind of SDK does not have this ability.")
  }
}

/// An SDK that can renew credentials without the owner.
public protocol RenewsItself: AnyObject, Sendable {
  /// Whether the credential of this identity can be renewed so.
  func renewsItself(_ identity: IdentityRecord) -> Bool
  /// Whether renewing spends a single-use credential, such as a rotating refresh token. By default it does not.
  func spends(_ identity: IdentityRecord) -> Bool
  /// Renews the credential.
  func renewItself(_ identity: IdentityRecord) async throws(SDKError) -> SignedIn
  /// Returns the kind's state without the renewal credential that the vendor has refused; by default, all of it.
  func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret]
}

extension RenewsItself {
  public func spends(_ identity: IdentityRecord) -> Bool { false }
  public func kindState(afterRefusalOf identity: IdentityRecord) -> [String: Secret] { identity.kindState }
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
}

/// An SDK with a realtime connection.
public protocol KeepsConnection: AnyObject, Sendable {
  /// Whether a connection is kept while this identity is signed in.
  func keepsConnection(for identity: IdentityRecord) -> Bool
  /// Opens the connection.
  func connect(_ identity: IdentityRecord) async throws(SDKError) -> any RealtimeConnection
}

/// An SDK with push registrations.
public protocol RegistersForPush: AnyObject, Sendable {
  /// The rules for the end of registrations.
  var pushRules: PushRules { get }
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
}

/// An SDK that leaves state, or something to tell the vendor, when an identity is wiped. By default there is nothing.
public protocol LeavesCleanup: AnyObject, Sendable {
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
}

extension LeavesCleanup {
  public func remainder(of identity: IdentityRecord) -> [String: Secret] { [:] }
  public func farewell(
    to identity: IdentityRecord, pushes: [PushRecord], isInformed: Bool, now: Timestamp
  ) -> [Delivery] { [] }
  public func logout(ofReplaced identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
  public func retry(ofLogoutOf identity: IdentityRecord, now: Timestamp) -> Delivery? { nil }
}

/// An SDK that adds to opened sessions.
public protocol AddsToSessions: AnyObject, Sendable {
  /// Returns the text for the input field, which is given once. It is removed from the identity before the response.
  /// By default there is none.
  func prefill(of identity: IdentityRecord) -> (key: String, text: String)?
  /// Returns the additions to an opened session. May contact the vendor.
  func open(
    _ identity: IdentityRecord, on connection: (any RealtimeConnection)?
  ) async throws(SDKError) -> SessionOpening
}

extension AddsToSessions {
  public func prefill(of identity: IdentityRecord) -> (key: String, text: String)? { nil }
}

/// An SDK whose vendor can ban users.
public protocol KnowsBans: AnyObject, Sendable {
  /// Returns the reason to show nothing to this identity, whatever its credential; `nil` for none.
  func hidden(_ identity: IdentityRecord) -> Session.HiddenReason?
  /// Returns the reason not to issue a credential of this identity, although it is valid; `nil` for none.
  func withheld(_ identity: IdentityRecord) -> SDKError?
}

/// A kind's additions to an opened session.
public struct SessionOpening: Sendable, Hashable {
  /// The reason to show nothing; `nil` for none.
  public var hidden: Session.HiddenReason?
  /// Data about the user that goes with the session.
  public var data: [String: String]?
  /// The fields that the visitor may edit.
  public var editableFields: [String]
  /// The state that is removed from the identity once this opening has been answered.
  public var delivered: [String: Secret]
  /// The state that the identity keeps from now on.
  public var learned: [String: Secret]

  /// An opening, by default without additions.
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
