public import SDKProtocol

extension AuthenticationMachine {
  /// An input of the state machine. Inputs that are results carry the epoch in which their work began.
  public enum Input: Sendable, Hashable {
    /// A login begins; `sameUser` is `nil` when no user is signed in.
    case signIn(sameUser: Bool?)
    /// The former user's session has ended. `informed` is whether the vendor has been notified of it; a login that was
    /// superseded meanwhile then still ends that session.
    case formerEnded(epoch: UInt64, informed: Bool = false)
    case formerEndFailed(epoch: UInt64, SDKError)
    /// A login was accepted. With `prepared`, it was only prepared for the first call that needs a credential, without the
    /// vendor, and the instance enters that phase.
    case signInAccepted(epoch: UInt64, prepared: Phase? = nil)
    case signInFailed(epoch: UInt64, SDKError)

    /// A logout begins. `hasExpired` is whether the credential has expired by the clock.
    case signOut(localOnly: Bool, as: LogoutCause = .explicit, hasExpired: Bool = false)
    case signOutAccepted(epoch: UInt64)
    case signOutFailed(epoch: UInt64, SDKError)

    /// A call needs a user and there is none.
    case userNeeded
    case anonymousAccepted(epoch: UInt64)
    case anonymousFailed(epoch: UInt64, SDKError)

    /// A new credential is requested.
    case renew(RenewalMeans)
    /// The SDK renewed its credential without the owner.
    case renewedItself(epoch: UInt64)
    /// The vendor refused the SDK's own renewal. `isFinal` is whether it would refuse a credential of the owner too.
    case itselfRefused(epoch: UInt64, SDKError, means: RenewalMeans, isFinal: Bool = false)
    /// The SDK's own renewal could not be tried.
    case itselfFailed(epoch: UInt64, SDKError)
    /// The owner decided whether to continue.
    case confirmed(epoch: UInt64, Confirmation)
    case answered(epoch: UInt64, Answer)
    case credentialAccepted(epoch: UInt64)
    case credentialRefused(epoch: UInt64, SDKError)
    /// The vendor could not be reached; the credential passed the local checks.
    case credentialUnverifiable(epoch: UInt64, SDKError)
    /// The vendor responded, but neither accepted nor refused the credential.
    case verificationFailed(epoch: UInt64, SDKError)

    /// The credential has expired.
    case expired(means: RenewalMeans)
    /// The credential had expired when the daemon started, and was not renewed since.
    case foundExpired(means: RenewalMeans)
    /// The credential is no longer expired: the clock was wrong and has been set back.
    case revived
    /// An app reported that the vendor refused the credential.
    case reported(SDKError, means: RenewalMeans)
    /// An app reported that the vendor refused the credential, too soon after the last probe or renewal to follow it
    /// up.
    case reportHeld(SDKError)
    /// A probe or renewal starts because of a report that came too soon before (`reportHeld`).
    case reportFollowedUp(means: RenewalMeans)
    /// The daemon saw the vendor refuse the credential.
    case refused(SDKError, means: RenewalMeans)
    case probed(epoch: UInt64, Probe, means: RenewalMeans = .none)
    /// The vendor merged the user into another user, who becomes the user of the instance.
    case merged
    /// The vendor merged the user into a user for whom the instance has no credential.
    case mergedAway
    /// A wipe could not be made durable.
    case wipeFailed
  }

  /// The owner's decision after a failure.
  public enum Confirmation: Sendable, Hashable {
    case proceed
    case declined(SDKError)
    case failed(SDKError)
  }

  /// The answer of the bridge to a request for a credential.
  public enum Answer: Sendable, Hashable {
    /// A credential that passed the local checks.
    case credential
    /// The owner declines to give a credential, which is not a failure.
    case declined(SDKError)
    /// The owner denies the user.
    case denied(SDKError)
    /// No credential is available for now.
    case failed(SDKError)
  }

  /// The result of checking a reported credential with the vendor.
  public enum Probe: Sendable, Hashable {
    case accepted
    case refused(SDKError)
    case unanswered(SDKError)
  }

  /// The result of an activity.
  public enum Outcome: Sendable, Hashable {
    case done
    /// A logout has ended. `informed` is whether the vendor has been notified of it.
    case signedOut(informed: Bool)
    case failed(SDKError)
  }

  /// An event for subscribers.
  public enum Notice: Sendable, Hashable {
    case loggedIn
    case loggedOut(LogoutCause)
    case anonymousUserCreated
    case authenticationFailed(SDKError)
    case tokenRefreshed
    case refreshFailed(SDKError)
    case networkError(SDKError)
    case logoutFailed(SDKError)
    case fellBackToAnonymous(SDKError)
  }
}
