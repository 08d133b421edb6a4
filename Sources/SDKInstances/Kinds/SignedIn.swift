public import SDKProtocol

/// The result of a login, a renewal or an anonymous user at the vendor, or one that a kind has prepared.
public struct SignedIn: Sendable {
  /// A merge of another user of the vendor into this one.
  public struct Merge: Sendable, Hashable {
    /// The id that is gone.
    public var from: String
    /// The id that survives.
    public var to: String
    /// The way in which conversations are merged.
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
  /// The kind's own state, which replaces all of the former one.
  public var kindState: [String: Secret]
  /// A merge, if there was one.
  public var merge: Merge?
  /// The phase of an instance whose vendor has not been contacted yet; `nil` for a login.
  public var prepared: AuthenticationMachine.Phase?
  /// The kind's own events to emit with the result.
  public var events: [EventType]
  /// The provided credential that is used once, from memory, instead of a request to the bridge.
  public var supply: CheckedCredential?
  /// Whether the vendor would not issue this credential again. It must then be durable before callers get it.
  public var isIrreplaceable: Bool
  /// Whether the vendor was contacted. If not, there is nothing to undo, and the first session shows whether the
  /// credential is valid.
  public var isTold: Bool
  /// The reason why the vendor's response to a renewal can't be used; `nil` for a usable one. With a failure only
  /// `kindState` is taken over, durably and before the failure is reported. It may hold the only refresh token that is
  /// still valid.
  public var failure: SDKError?
  /// The connection on which the vendor accepted the user. The instance keeps it.
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
