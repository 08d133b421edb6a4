public import SDKProtocol

/// The result of a login, a renewal or the creation of an anonymous user. Usually it comes from the vendor; `prepared`
/// marks a login that was made without the vendor.
public struct SignedIn: Sendable {
  /// The vendor's merge of one user into another.
  public struct Merge: Sendable, Hashable {
    /// The vendor's id of the user that was merged and no longer exists.
    public var from: String
    /// The vendor's id of the user that remains.
    public var to: String
    /// The vendor's name for the way in which it merges the conversations.
    public var mode: String

    /// Creates a merge of the user `from` into the user `to`.
    public init(from: String, to: String, mode: String) {
      self.from = from
      self.to = to
      self.mode = mode
    }
  }

  /// The request that a result came from.
  struct Origin: Sendable {
    /// The adapter that made the request.
    var adapter: any SDKAdapter
    /// The epoch of the service in which the request began.
    var epoch: UInt64
  }

  /// The user that is signed in after the operation.
  public var user: User
  /// The credential; `nil` when the user has none.
  public var credential: Credential?
  /// The kind's own state, which replaces the identity's former one completely.
  public var kindState: [String: Secret]
  /// The merge that the vendor made; `nil` if it made none.
  public var merge: Merge?
  /// For a login that was prepared without the vendor: the phase that the instance enters. `nil` for any other result.
  public var prepared: AuthenticationMachine.Phase?
  /// The kind's own events to emit with the result.
  public var events: [EventType]
  /// A credential of the owner that was provided in advance. It stays in memory, and is used once instead of a request
  /// to the bridge.
  public var supply: CheckedCredential?
  /// Whether the vendor would not issue this credential again. Callers then get it only after it is on disk.
  public var isIrreplaceable: Bool
  /// Whether the vendor was contacted. If it was not, there is no session to end at the vendor, and the credential's
  /// validity is unknown until the first session.
  public var isTold: Bool
  /// For a login, whether it is of the user who was signed in, if the vendor was asked; `nil` if `KindRules.isSameUser`
  /// has decided.
  public var isSameUser: Bool?
  /// The reason why the vendor's response to a renewal can't be used; `nil` for a usable response. With a failure, only
  /// `kindState` is adopted, and is on disk before the failure is reported: it may hold the only refresh token that is
  /// still valid.
  public var failure: SDKError?
  /// Whether the vendor has none of the user's push registrations any more. They are made again.
  public var losesPushes: Bool
  /// The open realtime connection on which the vendor accepted the user; `nil` without one. The instance takes it over.
  public var connection: (any RealtimeConnection)?
  /// Findings about an accepted login for the event's `hints`, beside those of the local checks.
  public var hints: [String] = []
  /// Whether a renewal that comes after a logout is undone at the vendor. One that is irreplaceable always is.
  public var isUndoneIfLate = false
  /// The request that the result came from. The instance sets it, because a result that is not used must be undone
  /// by the adapter that obtained it.
  var origin: Origin?

  /// Creates a result with these members.
  public init(
    user: User, credential: Credential?, kindState: [String: Secret] = [:], merge: Merge? = nil,
    prepared: AuthenticationMachine.Phase? = nil, events: [EventType] = [], supply: CheckedCredential? = nil,
    isIrreplaceable: Bool = false, isTold: Bool = true, isSameUser: Bool? = nil, failure: SDKError? = nil,
    losesPushes: Bool = false, connection: (any RealtimeConnection)? = nil
  ) {
    self.user = user
    self.credential = credential
    self.kindState = kindState
    self.merge = merge
    self.prepared = prepared
    self.events = events
    self.supply = supply
    self.isIrreplaceable = isIrreplaceable
    self.isTold = isTold
    self.isSameUser = isSameUser
    self.failure = failure
    self.losesPushes = losesPushes
    self.connection = connection
  }
}
