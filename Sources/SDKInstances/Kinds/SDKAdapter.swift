public import DelegateBridge
public import SDKProtocol

/// An SDK as one instance uses it: its settings and its talk with the vendor. It holds no state of its own: what it
/// needs comes with the identity, what it learns goes back with the result.
public protocol SDKAdapter: Sendable {
  /// The settings that all kinds have.
  var common: CommonSettings { get }
  /// What failure, denial and another user mean here.
  var policy: AuthenticationPolicy { get }
  /// Whether a call that needs a user may make an anonymous one.
  var makesAnonymousUsers: Bool { get }

  /// Checks a credential before the network.
  ///
  /// - Throws: the reasons that the SDK has for it, origin `local`.
  func check(_ token: Secret, now: Timestamp) throws(SDKError) -> CheckedCredential

  /// The credential in an answer of the bridge, checked.
  ///
  /// - Throws: `providerOutputInvalid` for one that can't be right.
  func check(_ answer: BridgeAnswer, now: Timestamp) throws(SDKError) -> CheckedCredential

  /// Shows a credential to the vendor as a login; the identity is the one that stands now.
  func signIn(_ credential: CheckedCredential, from identity: IdentityRecord) async throws(SDKError) -> SignedIn

  /// Shows a renewed credential of the same user to the vendor.
  func verify(_ credential: CheckedCredential, of identity: IdentityRecord) async throws(SDKError)

  /// Ends the session at the vendor with this credential.
  func signOut(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError)

  /// Makes an anonymous user at the vendor.
  func makeAnonymousUser(from identity: IdentityRecord) async throws(SDKError) -> SignedIn

  /// Asks the vendor whether it knows this credential.
  func probe(_ credential: Credential, of identity: IdentityRecord) async throws(SDKError)

  /// Where the vendor is, for `session.open`.
  func endpoint(for identity: IdentityRecord) -> Session.Endpoint
  /// How a credential is put on a request.
  func http(for credential: Credential, of identity: IdentityRecord) -> TokenHTTP
  /// Whether there is a history to show.
  var hasHistory: Bool { get }
  /// What an identity keeps through a wipe, such as a client id.
  func remainder(of identity: IdentityRecord) -> [String: Secret]
}

/// A credential that may be right, as far as can be told without the network.
public struct CheckedCredential: Sendable, Hashable {
  /// The credential.
  public var credential: Credential
  /// Whom it names; `nil` when it does not say.
  public var externalId: String?
  /// What it says of the user.
  public var name: String?
  /// What it says of the user.
  public var email: String?
  /// Findings of the lint, for a vendor that won't say why it refuses.
  public var hints: [String]

  /// A checked credential.
  public init(
    credential: Credential, externalId: String?, name: String? = nil, email: String? = nil, hints: [String] = []
  ) {
    self.credential = credential
    self.externalId = externalId
    self.name = name
    self.email = email
    self.hints = hints
  }
}

/// What the vendor made of a login or an anonymous user.
public struct SignedIn: Sendable, Hashable {
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
  /// What the kind keeps for itself.
  public var kindState: [String: Secret]
  /// A merge, if there was one.
  public var merge: Merge?

  /// An accepted user.
  public init(user: User, credential: Credential?, kindState: [String: Secret] = [:], merge: Merge? = nil) {
    self.user = user
    self.credential = credential
    self.kindState = kindState
    self.merge = merge
  }
}
