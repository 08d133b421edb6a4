public import SDKProtocol

/// What the vendor made of a login, a renewal or an anonymous user; or what a kind prepared for one.
public struct SignedIn: Sendable {
  /// Another user of the vendor's was merged into this one.
  public struct Merge: Sendable, Hashable {
    /// The id that is gone.
    public var from: String
    /// The id that survives.
    public var to: String
    /// How conversations are merged.
    public var mode: String

    /// A merge.
    public init(from: String, to: String, mode: String) {
      self.from = from
      self.to = to
      self.mode = mode
    }
  }

  /// The user.
  public var user: User
  /// The credential; `nil` when the user has none.
  public var credential: Credential?
  /// What the kind keeps for itself: replaces all that it kept.
  public var kindState: [String: Secret]
  /// A merge, if there was one.
  public var merge: Merge?
  /// Where the instance rests when the vendor has not been asked yet; `nil` for a login.
  public var prepared: AuthenticationMachine.Phase?
  /// Events of the kind's own that go with it.
  public var events: [EventType]
  /// Used once, from memory, instead of asking the bridge.
  public var supply: CheckedCredential?
  /// Whether the vendor would not give this credential again: then it must be durable before anybody gets it.
  public var isIrreplaceable: Bool
  /// Whether the vendor was asked: if not, there is nothing to undo, and the first session shows whether the
  /// credential is good.
  public var isTold: Bool
  /// Why the vendor's answer to a renewal can't be used; `nil` for a good one. With a failure only `kindState` is taken
  /// over, durably and before the failure is reported: it may hold the one refresh token that is still valid.
  public var failure: SDKError?
  /// The connection on which the vendor accepted the user; the instance goes on with it.
  public var connection: (any RealtimeConnection)?

  /// An accepted user.
  public init(
    user: User, credential: Credential?, kindState: [String: Secret] = [:], merge: Merge? = nil,
    prepared: AuthenticationMachine.Phase? = nil, events: [EventType] = [], supply: CheckedCredential? = nil,
    isIrreplaceable: Bool = false, isTold: Bool = true, failure: SDKError? = nil,
    connection: (any RealtimeConnection)? = nil
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
    self.failure = failure
    self.connection = connection
  }
}
