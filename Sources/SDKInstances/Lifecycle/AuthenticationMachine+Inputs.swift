public import SDKProtocol

extension AuthenticationMachine {
  /// What happens to an instance. Results carry the epoch in which their work was begun.
  public enum Input: Sendable, Hashable {
    /// Somebody logs in; `sameUser` is nil when nobody is signed in.
    case signIn(sameUser: Bool?)
    /// The former user's session is over; whether the vendor knows.
    case formerEnded(epoch: UInt64, informed: Bool = false)
    case formerEndFailed(epoch: UInt64, SDKError)
    /// A login was accepted; or, without the vendor, prepared for the first call that needs a credential.
    case signInAccepted(epoch: UInt64, as: Acceptance = .login)
    case signInFailed(epoch: UInt64, SDKError)

    case signOut(localOnly: Bool, as: LogoutCause = .explicit)
    case signOutAccepted(epoch: UInt64)
    case signOutFailed(epoch: UInt64, SDKError)

    /// A call needs a user and there is none.
    case userNeeded
    case anonymousAccepted(epoch: UInt64)
    case anonymousFailed(epoch: UInt64, SDKError)

    /// A new credential is wanted.
    case renew(RenewalMeans)
    /// The SDK renewed its credential without the owner.
    case renewedItself(epoch: UInt64)
    /// The vendor refused what the SDK had for that; `isFinal` when nothing that could be supplied would help.
    case itselfRefused(epoch: UInt64, SDKError, means: RenewalMeans, isFinal: Bool = false)
    /// It could not be tried.
    case itselfFailed(epoch: UInt64, SDKError)
    /// Whether the owner wants to go on.
    case confirmed(epoch: UInt64, Confirmation)
    case answered(epoch: UInt64, Answer)
    case credentialAccepted(epoch: UInt64)
    case credentialRefused(epoch: UInt64, SDKError)
    /// The vendor could not be asked; the credential passed the local checks.
    case credentialUnverifiable(epoch: UInt64, SDKError)
    /// The vendor answered, but neither with yes nor with a refusal of the credential.
    case verificationFailed(epoch: UInt64, SDKError)

    /// The credential's end has passed.
    case expired(means: RenewalMeans)
    /// The credential's end lies ahead again: the clock was wrong and has been set back.
    case revived
    /// An app says that the vendor refused the credential.
    case reported(SDKError, means: RenewalMeans)
    /// The daemon saw the vendor refuse it.
    case refused(SDKError, means: RenewalMeans)
    case probed(epoch: UInt64, Probe, means: RenewalMeans = .none)
    /// The vendor merged the user into another one, for whom the instance speaks from now on.
    case merged
    /// The vendor merged the user into one for whom the instance can't speak.
    case mergedAway
    /// A change could not be made durable.
    case wipeFailed
  }

  /// What an accepted login means.
  public enum Acceptance: Sendable, Hashable {
    /// The user is signed in.
    case login
    /// Nobody asked the vendor yet: the instance rests here.
    case prepared(Phase)
  }

  /// What the owner says to a failure.
  public enum Confirmation: Sendable, Hashable {
    case proceed
    case declined(SDKError)
    case failed(SDKError)
  }

  /// What the bridge answered.
  public enum Answer: Sendable, Hashable {
    /// A credential that passed the local checks.
    case credential
    /// The owner wants none: no failure.
    case declined(SDKError)
    /// The owner says no.
    case denied(SDKError)
    /// No credential, for now.
    case failed(SDKError)
  }

  /// What the vendor said of the credential that an app reported.
  public enum Probe: Sendable, Hashable {
    case accepted
    case refused(SDKError)
    case unanswered(SDKError)
  }

  /// What is to be done, in order. The durable ones that stand together are one commit.
  public enum Action: Sendable, Hashable {
    /// Durable: what the vendor accepted becomes the instance's identity; with `wipe` after the former one's wipe.
    case adopt(wipe: Bool)
    /// Durable: the new credential replaces the old one.
    case adoptCredential(verified: Bool)
    /// Durable: a credential that can be used once is about to be spent.
    case noteSpending
    /// Durable: an anonymous visitor takes the user's place. The identity is kept, and the credential only when it has
    /// ended by the clock.
    case fallBack
    /// Durable: identity, storage and keys are destroyed.
    case wipe
    /// Durable: where the instance rests has changed.
    case record
    /// Durable: an event.
    case announce(Notice)

    /// Whoever waits for the activity that was in progress hears `superseded`.
    case supersede
    /// A login succeeded too late: the vendor is told to forget it.
    case undo
    case endFormer
    case exchange
    case endSession
    case createAnonymous
    case ask(attempt: Int, isRefusal: Bool, SDKError?)
    /// The SDK renews its credential without the owner.
    case renewItself
    /// The owner is told of the failure and asked whether to go on.
    case confirm(SDKError)
    case verify
    case probe
    /// The activity has ended; whoever waits for it is told.
    case finish(Outcome)
  }

  /// How an activity ended.
  public enum Outcome: Sendable, Hashable {
    case done
    /// A logout; whether the vendor knows.
    case signedOut(informed: Bool)
    case failed(SDKError)
  }

  /// What is told to subscribers.
  public enum Notice: Sendable, Hashable {
    case loggedIn
    case loggedOut(LogoutCause)
    case authenticationFailed(SDKError)
    case tokenRefreshed
    case refreshFailed(SDKError)
    case networkError(SDKError)
    case logoutFailed(SDKError)
    case fellBackToAnonymous(SDKError)
  }
}

/// Why a user is gone (`protocol.md`, `userLoggedOut`).
public enum LogoutCause: String, Sendable, Hashable, Codable {
  case explicit, implicit, deauthorized, `switch`, guest
}
