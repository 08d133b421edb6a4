/// What the ways of a kind are where the kinds differ: what failure, denial and another user mean.
public struct AuthenticationPolicy: Sendable, Hashable {
  /// What follows when recovery has ended without a credential.
  public enum Consequence: Sendable, Hashable {
    /// The user is gone and wiped.
    case logOut
    /// The identity is kept and nothing is handed out.
    case lock
    /// The identity is kept until a new credential comes.
    case keep
  }

  /// What a login of another user does with the one who is signed in.
  public enum AnotherUser: Sendable, Hashable {
    /// The former user is logged out and wiped first.
    case signOutFirst
    /// The former user stands until the vendor has accepted the new one, and is wiped then.
    case wipeOnSuccess
  }

  /// The owner said no.
  public var onDenied: Consequence
  /// Every token that was supplied was refused by the vendor.
  public var onBudgetSpent: Consequence
  /// Somebody else logs in.
  public var onAnotherUser: AnotherUser
  /// How many supplied tokens may be refused in one recovery.
  public var maxAttempts: Int

  /// A policy.
  public init(
    onDenied: Consequence, onBudgetSpent: Consequence, onAnotherUser: AnotherUser, maxAttempts: Int
  ) {
    self.onDenied = onDenied
    self.onBudgetSpent = onBudgetSpent
    self.onAnotherUser = onAnotherUser
    self.maxAttempts = maxAttempts
  }
}
