import SDKProtocol

extension AuthenticationMachine {
  /// Processes an input, and writes what follows from it into a step.
  mutating func apply(_ input: Input, _ step: inout some StepWriter) {
    switch input {
    case .signIn(let sameUser): signIn(sameUser: sameUser, &step)
    case .formerEnded(let began, let informed): formerEnded(began, informed: informed, &step)
    case .formerEndFailed(let began, let error): if isCurrent(began, .endingFormer) { endSignIn(error, &step) }
    case .signInAccepted(let began, let prepared):
      if isCurrent(began, .signingIn) { signedIn(prepared: prepared, &step) } else { step.undoAtVendor() }
    case .signInFailed(let began, let error): if isCurrent(began, .signingIn) { endSignIn(error, &step) }

    case .signOut(let localOnly, let cause, let hasExpired):
      if hasExpired, standing == .usable { standing = .expired }
      signOut(localOnly: localOnly, cause, &step)
    case .signOutAccepted(let began):
      if isCurrent(began, .signingOut) { signedOut(.explicit, informed: true, &step) }
    case .signOutFailed(let began, let error): if isCurrent(began, .signingOut) { signOutFailed(error, &step) }

    case .userNeeded: userNeeded(&step)
    case .anonymousAccepted(let began):
      if isCurrent(began, .creatingAnonymous) { anonymousCreated(&step) } else { step.undoAtVendor() }
    case .anonymousFailed(let began, let error):
      if isCurrent(began, .creatingAnonymous) { end(.failed(error), announcing: Self.unreachable(error), &step) }

    case .renew(let means): renew(means, &step)
    case .renewedItself(let began): if isCurrent(began, .renewing) { renewed(&step) }
    case .itselfRefused(let began, let error, let means, let isFinal):
      if isCurrent(began, .renewing) { itselfRefused(error, isFinal ? .none : means, isFinal: isFinal, &step) }
    case .itselfFailed(let began, let error): if isCurrent(began, .renewing) { renewalFailed(error, &step) }
    case .confirmed(let began, let confirmation): confirmed(began, confirmation, &step)
    case .answered(let began, let answer): answered(began, answer, &step)
    case .credentialAccepted(let began): if verifiedAttempt(began) != nil { renewed(&step) }
    case .credentialUnverifiable(let began, let error):
      guard verifiedAttempt(began) != nil else { return }
      if policy.usesUnverified { renewed(unverified: error, &step) } else { renewalFailed(error, &step) }
    case .credentialRefused(let began, let error):
      if let attempt = verifiedAttempt(began) { refusedAgain(error, attempt: attempt, &step) }
    case .verificationFailed(let began, let error): if verifiedAttempt(began) != nil { renewalFailed(error, &step) }

    case .expired(let means): lost(.expired, Self.expiredError, means, &step)
    case .foundExpired(let means): foundExpired(means, &step)
    case .refused(let error, let means): lost(.refused, error, means, &step)
    case .revived: revived(&step)
    case .reported(let error, let means): reported(error, means, &step)
    case .reportHeld(let error): reportHeld(error)
    case .reportFollowedUp(let means): reportFollowedUp(means, &step)
    case .probed(let began, let probe, let means): if isCurrent(began, .probing) { probed(probe, means, &step) }
    case .merged: merged(&step)
    case .mergedAway: mergedAway(&step)
    case .wipeFailed: wipeFailed()
    }
  }

  /// Locks the instance, because a wipe could not be made durable. The work in progress is for a user whose credential
  /// must not be issued any more.
  mutating func wipeFailed() {
    epoch += 1
    phase = .locked
    standing = .none
    rest()
  }

  /// The error for an expired credential.
  static let expiredError = SDKError(
    .vendor, .expiredJWT, "The JWT has expired. Log in again, or configure a token provider.")

  static let refusedError = SDKError(
    .vendor, .invalidAuth, "The vendor refused the token. Log in again, or wait for the token provider.")

  func isCurrent(_ began: UInt64, _ expected: Activity) -> Bool { began == epoch && activity == expected }

  /// Begins a change of identity: supersedes the former activity, and raises the epoch so that its results are ignored.
  mutating func begin(_ next: Activity, _ step: inout some StepWriter) {
    isDoubted = false
    refusedAnswers = 0
    if activity != .idle { step.supersede() }
    epoch += 1
    rest()
    activity = next
  }

  /// Ends the activity without a result, and clears all data about it.
  mutating func rest() {
    activity = .idle
    isFailureTold = false
    isRenewalRefused = false
    refusal = nil
  }

  mutating func end(_ outcome: Outcome, announcing notice: Notice? = nil, _ step: inout some StepWriter) {
    rest()
    if let notice { step.announce(notice) }
    step.finish(outcome)
  }

  static func unreachable(_ error: SDKError) -> Notice? {
    error.origin == .unreachable ? .networkError(error) : nil
  }

  // MARK: Login

  private mutating func signIn(sameUser: Bool?, _ step: inout some StepWriter) {
    let isSwitch = hasIdentity && sameUser == false
    let endsFormer = isSwitch && policy.onAnotherUser == .signOutFirst
    begin(endsFormer ? .endingFormer : .signingIn, &step)
    // Store first: if the disk is full, the vendor must not learn of a change that can't be stored.
    if isSwitch { step.record() }
    if endsFormer { step.endFormer(mayHaveCredential: standing != .none, epoch: epoch) } else { step.exchange() }
  }

  private mutating func formerEnded(_ began: UInt64, informed: Bool, _ step: inout some StepWriter) {
    if isCurrent(began, .endingFormer) {
      activity = .signingIn
      if hasIdentity { leave(as: .switch, &step) }
      step.exchange()
    } else if informed, hasIdentity {
      formerEndedLate(&step)
    }
  }

  /// Handles the end of the present user's session at the vendor for a login that was superseded meanwhile.
  private mutating func formerEndedLate(_ step: inout some StepWriter) {
    switch activity {
    case .askingForSignOut, .signingOut:
      // Its own request fails, or ends what has ended. The user is signed out with it.
      standing = .none
    case .endingFormer, .signingIn, .creatingAnonymous: leave(as: .switch, &step)
    case .idle, .renewing, .confirming, .asking, .verifying, .probing:
      begin(.idle, &step)
      leave(as: .switch, &step)
    }
  }

  private mutating func signedIn(prepared: Phase?, _ step: inout some StepWriter) {
    // A locked instance may still store data that a failed wipe left behind.
    let wipe =
      policy.onAnotherUser == .wipeOnSuccess || phase == .locked
      || policy.onAnotherUser == .signOutAfter && hasIdentity
    activity = .idle
    if let prepared {
      let isStillKept = hasFallenBack && prepared == .anonymous
      if !isStillKept, prepared != .authenticated || phase != .authenticated { standing = .none }
      let isAlive = standing == .usable || standing == .reported
      phase = prepared == .authenticated && !isAlive ? .reauthNeeded : prepared
    } else {
      phase = .authenticated
      standing = .usable
    }
    step.adopt(wiping: wipe)
    if prepared == nil { step.announce(.loggedIn) }
    step.finish(.done)
  }

  private mutating func endSignIn(_ error: SDKError, _ step: inout some StepWriter) {
    let isRefusal = error.origin != .unreachable && error.origin != .store
    fail(error, announcing: isRefusal ? .authenticationFailed(error) : Self.unreachable(error), &step)
  }

  /// Ends an activity that has failed. If it had superseded the renewal of an expired or refused credential, the phase
  /// becomes `reauthNeeded`, and that failure is announced too.
  mutating func fail(_ error: SDKError, announcing notice: Notice?, _ step: inout some StepWriter) {
    if phase == .authenticated, standing == .expired || standing == .refused {
      phase = .reauthNeeded
      step.record()
      let isTold = if case .authenticationFailed? = notice { true } else { false }
      if !isTold { step.announce(.authenticationFailed(cause ?? Self.refusedError)) }
    }
    end(.failed(error), announcing: notice, &step)
  }

  // MARK: Logout

  private mutating func signOut(localOnly: Bool, _ cause: LogoutCause, _ step: inout some StepWriter) {
    switch phase {
    case .noUser, .loggedOut:
      begin(.idle, &step)
      step.finish(.signedOut(informed: false))
    case .authenticated where !localOnly, .reauthNeeded where !localOnly:
      let mayTellVendor = standing == .usable || standing == .reported || !policy.renewsToSignOut
      begin(mayTellVendor ? .signingOut : .askingForSignOut, &step)
      // Store first: if the disk is full, the vendor must not learn of a change that can't be stored.
      step.record()
      if mayTellVendor { step.endSession() } else { step.ask(attempt: 1, isRefusal: true, self.cause) }
    case .anonymous, .locked, .authenticated, .reauthNeeded:
      begin(.signingOut, &step)
      signedOut(cause, informed: false, &step)
    }
  }

  mutating func signedOut(_ cause: LogoutCause, informed: Bool, _ step: inout some StepWriter) {
    leave(for: cause == .deauthorized ? .noUser : .loggedOut, as: cause, &step)
    end(.signedOut(informed: informed), &step)
  }

  /// Wipes the user and announces the logout.
  ///
  /// - Parameter error: the failure that has led to it, which is announced first; `nil` without one.
  mutating func leave(
    for next: Phase = .loggedOut, as cause: LogoutCause, after error: SDKError? = nil, _ step: inout some StepWriter
  ) {
    phase = next
    standing = .none
    step.wipe()
    if let error { tell(error, &step) }
    step.announce(.loggedOut(cause))
  }

  private mutating func signOutFailed(_ error: SDKError, _ step: inout some StepWriter) {
    switch error.origin {
    case .unreachable, .store:
      fail(error, announcing: policy.tellsLogoutFailure ? .logoutFailed(error) : Self.unreachable(error), &step)
    default: signedOut(.explicit, informed: false, &step)
    }
  }

  // MARK: Anonymous users

  private mutating func userNeeded(_ step: inout some StepWriter) {
    guard activity == .idle, phase == .noUser || phase == .loggedOut else { return }
    begin(.creatingAnonymous, &step)
    step.createAnonymous()
  }

  private mutating func anonymousCreated(_ step: inout some StepWriter) {
    phase = .anonymous
    standing = .usable
    step.adopt(wiping: false)
    step.announce(.anonymousUserCreated)
    end(.done, &step)
  }

  // MARK: Merges

  /// Handles the vendor's merge of the user into another user, for whom the present credential, or one sent with the
  /// merge, is valid.
  private mutating func merged(_ step: inout some StepWriter) {
    guard phase == .authenticated || phase == .anonymous, standing == .usable else { return }
    // Any other activity in progress concerns the former user.
    if !isChangingUser { begin(.idle, &step) }
    step.adopt(wiping: false)
  }

  /// Handles the vendor's merge of the anonymous user into a user for whom the instance has no credential: wipes the
  /// anonymous user, unless a login or logout is in progress.
  private mutating func mergedAway(_ step: inout some StepWriter) {
    guard phase == .anonymous, !isChangingUser || activity == .creatingAnonymous else { return }
    begin(.idle, &step)
    leave(as: .implicit, &step)
  }
}
