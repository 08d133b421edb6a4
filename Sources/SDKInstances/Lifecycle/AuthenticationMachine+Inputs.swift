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
    /// A login was accepted, or prepared without the vendor for the first call that needs a credential.
    case signInAccepted(epoch: UInt64, as: Acceptance = .login)
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

  /// The effect of an accepted login.
  public enum Acceptance: Sendable, Hashable {
    /// The user is signed in.
    case login
    /// The vendor was not contacted yet. The instance enters this phase.
    case prepared(Phase)
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

  /// An action to execute, in the order returned. Adjacent durable actions are one commit.
  public enum Action: Sendable, Hashable {
    /// Durable: adopts the identity that the vendor accepted. With `wipe`, the former identity is wiped first.
    case adopt(wipe: Bool)
    /// Durable: replaces the credential by the new one.
    case adoptCredential(verified: Bool)
    /// Durable: records that a single-use credential is about to be used up, so that a crash during its use is
    /// detected.
    case noteSpending
    /// Durable: continues as an anonymous visitor instead of the user. The identity is kept. The credential is kept
    /// only if it has expired by the clock.
    case fallBack
    /// Durable: destroys identity, storage and keys.
    case wipe
    /// Durable: stores the changed phase of the instance.
    case record
    /// Durable: emits an event.
    case announce(Notice)

    /// Fails the callers that wait for the former activity with `superseded`.
    case supersede
    /// Undoes at the vendor a login, or the creation of an anonymous user, that succeeded too late to be used.
    case undo
    case endFormer
    case exchange
    case endSession
    case createAnonymous
    case ask(attempt: Int, isRefusal: Bool, SDKError?)
    /// Renews the credential by the SDK itself, without the owner.
    case renewItself
    /// Notifies the owner of the failure and requests a decision whether to continue.
    case confirm(SDKError)
    case verify
    case probe
    /// Ends the activity and notifies the callers that wait for it.
    case finish(Outcome)
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

extension AuthenticationMachine {
  /// Handles the vendor's merge of the user into another user, for whom the present credential, or one sent with the
  /// merge, is valid.
  mutating func merged() -> [Action] {
    guard phase == .authenticated || phase == .anonymous, standing == .usable else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying, .probing:
      // The activity in progress concerns the former user.
      return begin(.idle) + [.adopt(wipe: false)]
    case .endingFormer, .signingIn, .askingForSignOut, .signingOut, .creatingAnonymous:
      // A login or logout in progress decides on the identity.
      return [.adopt(wipe: false)]
    }
  }

  /// Handles the vendor's merge of the anonymous user into a user for whom the instance has no credential: wipes the
  /// anonymous user, unless a login or logout is in progress.
  mutating func mergedAway() -> [Action] {
    guard phase == .anonymous else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying, .probing, .creatingAnonymous:
      let actions = begin(.idle)
      phase = .loggedOut
      standing = .none
      return actions + [.wipe, .announce(.loggedOut(.implicit))]
    case .endingFormer, .signingIn, .askingForSignOut, .signingOut: return []
    }
  }
}
