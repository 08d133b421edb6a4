public import DelegateBridge
public import SDKProtocol

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
