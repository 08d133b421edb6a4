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
    /// The user is gone and wiped; the SDK goes on as a guest.
    case becomeGuest
    /// The SDK goes on as an anonymous visitor and tries again when somebody asks.
    case fallBack
  }

  /// What a login of another user does with the one who is signed in.
  public enum AnotherUser: Sendable, Hashable {
    /// The former user is logged out and wiped first.
    case signOutFirst
    /// The former user stays until the vendor has accepted the new one, and is wiped then.
    case wipeOnSuccess
    /// As `wipeOnSuccess`; the vendor is then told of the former user's logout. An anonymous user is not wiped: the
    /// vendor merges them into the new one.
    case signOutAfter
  }

  /// The owner said no.
  public var onDenied: Consequence
  /// Every token that was supplied was refused by the vendor.
  public var onBudgetSpent: Consequence
  /// The credential is dead and there is nobody to ask for another one.
  public var onNoMeans: Consequence = .keep
  /// Nobody supplied a credential this time: `keep`, or `fallBack` to go on without.
  public var onFailure: Consequence = .keep
  /// Somebody else logs in.
  public var onAnotherUser: AnotherUser
  /// How many supplied tokens may be refused in one recovery.
  public var maxAttempts: Int
  /// Whether the owner is told of the failure, and asked whether to go on, before being asked for a credential.
  public var confirmsFirst = false
  /// Whether a dead credential is renewed so that the vendor can be told of a logout.
  public var renewsToSignOut = true
  /// Whether a credential that the vendor can't be asked about is used; no where it must be exchanged.
  public var usesUnverified = true
  /// Whether a credential that nobody refused lives on when the vendor refuses to renew it.
  public var outlivesRefusedRenewal = false
  /// Whether a logout that failed is an event of its own.
  public var tellsLogoutFailure = false

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
