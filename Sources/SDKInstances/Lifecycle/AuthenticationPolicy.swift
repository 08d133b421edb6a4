/// The differences between kinds in the state machine: the consequences of failure, denial and another user.
public struct AuthenticationPolicy: Sendable, Hashable {
  /// The consequence of a recovery that ended without a credential.
  public enum Consequence: Sendable, Hashable {
    /// The user is logged out and wiped.
    case logOut
    /// The identity is kept, but no credential is issued.
    case lock
    /// The identity is kept until a new credential comes.
    case keep
    /// The user is logged out and wiped, and the SDK continues as a guest.
    case becomeGuest
    /// The SDK continues as an anonymous visitor, and retries when a call needs the user.
    case fallBack
  }

  /// The treatment of the signed-in user when another user logs in.
  public enum AnotherUser: Sendable, Hashable {
    /// The former user is logged out and wiped first.
    case signOutFirst
    /// The former user stays until the vendor has accepted the new one, and is then wiped.
    case wipeOnSuccess
    /// As `wipeOnSuccess`; then the vendor is informed of the former user's logout. An anonymous user is not wiped: the
    /// vendor merges them into the new one.
    case signOutAfter
  }

  /// The consequence of a denial by the owner.
  public var onDenied: Consequence
  /// The consequence when the vendor has refused all supplied tokens.
  public var onBudgetSpent: Consequence
  /// The consequence of a dead credential without any way to renew it.
  public var onNoMeans: Consequence = .keep
  /// The consequence when no credential was supplied this time: `keep`, or `fallBack` to continue without one.
  public var onFailure: Consequence = .keep
  /// The treatment of the signed-in user when another user logs in.
  public var onAnotherUser: AnotherUser
  /// The number of supplied tokens that may be refused in one recovery.
  public var maxAttempts: Int
  /// Whether the owner is notified of the failure, and decides whether to continue, before a credential is requested.
  public var confirmsFirst = false
  /// Whether a dead credential is renewed so that the vendor can be informed of a logout.
  public var renewsToSignOut = true
  /// Whether a credential is used although the vendor can't be reached; `false` where it must be exchanged.
  public var usesUnverified = true
  /// Whether a credential that was never refused stays in use when the vendor refuses to renew it.
  public var outlivesRefusedRenewal = false
  /// Whether a failed logout has an event of its own.
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
