/// The settings of the authentication state machine that differ between kinds: what follows from a failed renewal, a
/// denial by the owner, and another user's login.
public struct AuthenticationPolicy: Sendable, Hashable {
  /// The consequence of a renewal that ended without a credential.
  public enum Consequence: Sendable, Hashable {
    /// The user is logged out and wiped.
    case logOut
    /// The identity is kept, but no credential is issued.
    case lock
    /// The identity is kept, and the user is not signed in until a new credential is supplied.
    case keep
    /// The user is logged out and wiped, and the SDK continues as a guest.
    case becomeGuest
    /// The SDK continues as an anonymous visitor, and retries when a call needs the user.
    case fallBack
  }

  /// The handling of the signed-in user when another user logs in.
  public enum AnotherUser: Sendable, Hashable {
    /// The former user is logged out and wiped first.
    case signOutFirst
    /// The former user stays until the vendor has accepted the new one, and is then wiped.
    case wipeOnSuccess
    /// Like `wipeOnSuccess`, and then the vendor is notified of the former user's logout. An anonymous user is not
    /// wiped, because the vendor merges that user into the new one.
    case signOutAfter
  }

  /// The consequence of a denial by the owner.
  public var onDenied: Consequence
  /// The consequence when the vendor has refused all supplied tokens.
  public var onBudgetSpent: Consequence
  /// The consequence of an expired or refused credential that can't be renewed.
  public var onNoMeans: Consequence = .keep
  /// The consequence when no credential was supplied this time: `keep`, or `fallBack` to continue without one.
  public var onFailure: Consequence = .keep
  /// The handling of the signed-in user when another user logs in.
  public var onAnotherUser: AnotherUser
  /// The maximum number of supplied tokens that may be refused in one renewal.
  public var maxAttempts: Int
  /// The maximum number of supplied tokens that may be refused one after another, over several renewals; `nil` for
  /// `maxAttempts`. Until then, a renewal that has spent `maxAttempts` has failed.
  public var mostRefusals: Int?
  /// Whether another anonymous user takes the place of one whose credential the vendor no longer accepts.
  public var replacesAnonymousUsers = false
  /// Whether the owner is notified of the failure and decides whether to continue, before a credential is requested.
  public var confirmsFirst = false
  /// Whether a logout first renews an expired or refused credential, so that the vendor can be notified of the logout.
  public var renewsToSignOut = true
  /// Whether a credential is used although the vendor can't be reached; `false` where it must be exchanged.
  public var usesUnverified = true
  /// Whether a credential that was never refused stays in use when the vendor refuses to renew it.
  public var outlivesRefusedRenewal = false
  /// Whether a failed logout has an event of its own.
  public var tellsLogoutFailure = false

  /// Creates a policy.
  public init(
    onDenied: Consequence, onBudgetSpent: Consequence, onAnotherUser: AnotherUser, maxAttempts: Int
  ) {
    self.onDenied = onDenied
    self.onBudgetSpent = onBudgetSpent
    self.onAnotherUser = onAnotherUser
    self.maxAttempts = maxAttempts
  }
}
