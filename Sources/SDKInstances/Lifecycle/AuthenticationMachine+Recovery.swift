import SDKProtocol

extension AuthenticationMachine {
  // MARK: Ways to a new credential

  /// Starts a renewal if nothing is in progress and `means` is not empty. A lock by the vendor does not prevent it.
  mutating func renew(_ means: RenewalMeans, _ step: inout some StepWriter) {
    guard activity == .idle, !means.isNone, phase != .locked || isLockedByVendor else { return }
    guard hasIdentity, standing == .expired || standing == .refused, !means.itself, policy.confirmsFirst else {
      return recover(means, nil, &step)
    }
    // The owner has not decided yet whether to continue, so request a decision again. Subscribers know of the failure.
    isFailureTold = phase == .reauthNeeded
    recover(means, cause, &step)
  }

  /// Starts a renewal: by the SDK itself if it can renew, otherwise by a request to the owner.
  private mutating func recover(_ means: RenewalMeans, _ error: SDKError?, _ step: inout some StepWriter) {
    if means.itself {
      activity = .renewing
      step.renewItself()
    } else if let error, means.bridge {
      askAfterRefusal(attempt: 1, error, &step)
    } else {
      ask(attempt: 1, error, &step)
    }
  }

  /// Requests a credential from the owner, or first the decision whether to continue.
  private mutating func askAfterRefusal(attempt: Int, _ error: SDKError, _ step: inout some StepWriter) {
    if policy.confirmsFirst { confirm(attempt: attempt, error, &step) } else { ask(attempt: attempt, error, &step) }
  }

  private mutating func ask(attempt: Int, _ error: SDKError?, _ step: inout some StepWriter) {
    activity = .asking(attempt: attempt)
    let error = error ?? refusal ?? cause
    step.ask(attempt: attempt, isRefusal: attempt > 1 || error != nil, error)
  }

  private mutating func confirm(attempt: Int, _ error: SDKError, _ step: inout some StepWriter) {
    activity = .confirming(attempt: attempt)
    tell(error, &step)
    step.confirm(error, attempt: attempt, epoch: epoch)
  }

  /// Emits the event of the failure that the renewal is meant to repair, once per renewal.
  mutating func tell(_ error: SDKError, _ step: inout some StepWriter) {
    guard !isFailureTold else { return }
    isFailureTold = true
    step.announce(.authenticationFailed(error))
  }

  mutating func itselfRefused(
    _ error: SDKError, _ means: RenewalMeans, isFinal: Bool, _ step: inout some StepWriter
  ) {
    if isAnonymousUser { return anonymousRefused(error, &step) }
    let isAlive = policy.outlivesRefusedRenewal && (standing == .usable || standing == .reported && !isFinal)
    if !isAlive, hasIdentity || phase == .locked {
      standing = .refused
      objection = error
    }
    if means.bridge { return askAfterRefusal(attempt: 1, error, &step) }
    if isAlive { isRenewalRefused = true }
    if isAlive || error.reason == .rotationInterrupted {
      renewalFailed(error, &step)
    } else {
      conclude(policy.onBudgetSpent, error, &step)
    }
  }

  // MARK: Answers

  mutating func confirmed(_ began: UInt64, _ confirmation: Confirmation, _ step: inout some StepWriter) {
    guard began == epoch, case .confirming(let attempt) = activity else { return }
    switch confirmation {
    case .proceed: ask(attempt: attempt, nil, &step)
    case .declined(let error): conclude(policy.onDenied, error, &step)
    case .failed(let error): renewalFailed(error, &step)
    }
  }

  mutating func answered(_ began: UInt64, _ answer: Answer, _ step: inout some StepWriter) {
    guard began == epoch else { return }
    switch (activity, answer) {
    // The kinds that announce a failed logout try it with the present credential: the vendor may still accept it, for
    // example on an open connection.
    case (.askingForSignOut, _) where answer == .credential || policy.tellsLogoutFailure:
      activity = .signingOut
      step.endSession()
    case (.askingForSignOut, _): signedOut(.explicit, informed: false, &step)
    case (.asking(let attempt), .credential):
      activity = .verifying(attempt: attempt)
      step.verify()
    case (.asking, .declined(let error)):
      // The owner's choice is not a failure: a usable credential stays in use, otherwise the instance becomes a guest.
      isFailureTold = true
      if standing == .usable, hasIdentity { end(.failed(error), &step) } else { becomeGuest(error, &step) }
    case (.asking, .denied(let error)):
      // A guest that remains one has not failed.
      if policy.onDenied == .becomeGuest, !hasIdentity, phase != .locked { isFailureTold = true }
      conclude(policy.onDenied, error, &step)
    case (.asking, .failed(let error)):
      // An unavailable provider does not explain why a new credential is needed; an earlier refusal does.
      renewalFailed(Self.nobodyWasAsked(error) ? refusal ?? error : error, &step)
    default: break
    }
  }

  /// The number of the credential that the vendor is shown since the epoch `began`; `nil` if it is shown none.
  func verifiedAttempt(_ began: UInt64) -> Int? {
    guard began == epoch, case .verifying(let attempt) = activity else { return nil }
    return attempt
  }

  mutating func renewed(unverified error: SDKError? = nil, _ step: inout some StepWriter) {
    let isAnonymous = isAnonymousUser && activity == .renewing
    let isLogin = !hasIdentity && phase != .locked && !isAnonymous
    // Results of work that began without a user must not apply to the new user.
    if isLogin { epoch += 1 }
    phase = isAnonymous ? .anonymous : .authenticated
    isDoubted = false
    standing = .usable
    refusedAnswers = 0
    step.adoptCredential(verified: error == nil, isAnonymous: isAnonymous)
    step.announce(isLogin ? .loggedIn : .tokenRefreshed)
    end(.done, announcing: error.map { .networkError($0) }, &step)
  }

  mutating func refusedAgain(_ error: SDKError, attempt: Int, _ step: inout some StepWriter) {
    var isSpent = attempt >= policy.maxAttempts
    if let most = policy.mostRefusals {
      refusedAnswers = min(refusedAnswers + 1, most)
      isSpent = refusedAnswers == most
    }
    if attempt < policy.maxAttempts, !isSpent {
      refusal = error
      askAfterRefusal(attempt: attempt + 1, error, &step)
    } else if standing == .usable || !isSpent {
      // The cached token is valid and was never refused: bad supplied tokens are no reason to lose the user.
      renewalFailed(error, &step)
    } else {
      conclude(policy.onBudgetSpent, error, &step)
    }
  }

  // MARK: Ends without a credential

  /// Ends a renewal that produced no credential, with this consequence.
  private mutating func conclude(
    _ consequence: AuthenticationPolicy.Consequence, _ error: SDKError, _ step: inout some StepWriter
  ) {
    switch consequence {
    case .logOut where phase != .noUser && phase != .loggedOut:
      epoch += 1
      leave(as: .implicit, after: error, &step)
      end(.failed(error), &step)
    case .becomeGuest: becomeGuest(error, &step)
    case .lock where phase != .noUser && phase != .loggedOut:
      standing = .refused
      stop(in: .locked, error, &step)
    case .fallBack:
      // A decision of the owner or the vendor holds whatever the clock says, so the credential must not be revived.
      standing = .none
      fallBack(error, &step)
    case .keep, .logOut, .lock: renewalFailed(error, &step)
    }
  }

  private mutating func becomeGuest(_ error: SDKError, _ step: inout some StepWriter) {
    if hasIdentity || phase == .locked {
      epoch += 1
      leave(for: .anonymous, as: .guest, after: error, &step)
    } else {
      if phase != .anonymous { step.record() }
      phase = .anonymous
      standing = .none
      tell(error, &step)
    }
    end(.failed(error), &step)
  }

  /// Continues as an anonymous visitor after a failure. A credential that has expired by the clock is kept until
  /// another one replaces it.
  private mutating func fallBack(_ error: SDKError, _ step: inout some StepWriter) {
    // Without an identity, subscribers know of the visitor already, and a provider's back-off is no news.
    let isNews = hasIdentity || error.reason != .providerBackoff
    let cause = explained(error)
    phase = .anonymous
    if standing != .expired { standing = .none }
    step.fallBack(keepingCredential: standing == .expired)
    if isNews {
      tell(cause, &step)
      step.announce(.fellBackToAnonymous(cause))
    }
    end(.failed(error), &step)
  }

  mutating func renewalFailed(_ error: SDKError, _ step: inout some StepWriter) {
    if standing != .usable, standing != .reported, policy.onFailure == .fallBack { return fallBack(error, &step) }
    if !Self.nobodyWasAsked(error) { step.announce(.refreshFailed(error)) }
    let outage = Self.unreachable(error)
    if let outage { step.announce(outage) }
    switch standing {
    case .usable: break
    case .reported:
      isFailureTold = false
      return probe(&step)
    // No user was signed in, so a refusal by the vendor is a failed login.
    case .none where !hasIdentity: if error.origin == .vendor { tell(error, &step) }
    case .none, .expired, .refused:
      guard phase == .authenticated else { break }
      phase = .reauthNeeded
      step.record()
      // An outage is not an authentication failure.
      if outage == nil { tell(explained(error), &step) }
    }
    end(.failed(error), &step)
  }

  /// Returns the failure to announce: the reason why the credential can't be used, with the provider's failure as a
  /// hint.
  private func explained(_ error: SDKError) -> SDKError {
    guard error.origin == .provider, var cause = cause ?? refusal else { return error }
    cause.hints.append("No new credential came (\(error.reason.rawValue)): \(error.message)")
    return cause
  }

  private static func nobodyWasAsked(_ error: SDKError) -> Bool {
    error.reason == .noProvider || error.reason == .providerBackoff
  }

  // MARK: The credential at hand

  /// Handles a credential that has expired or was refused: starts a renewal, or announces once that none is possible.
  mutating func lost(
    _ standing: Standing, _ error: SDKError, _ means: RenewalMeans, _ step: inout some StepWriter
  ) {
    guard phase == .authenticated, self.standing == .usable || self.standing == .reported else { return }
    // The expiry is detected again after the activity. If it were recorded now, no renewal would follow.
    if standing == .expired, isChangingUser || activity == .probing { return }
    self.standing = standing
    objection = standing == .refused ? error : nil
    guard activity == .idle else { return }
    if !means.isNone { return recover(means, standing == .refused ? error : nil, &step) }
    switch policy.onNoMeans {
    case .becomeGuest: becomeGuest(error, &step)
    case .fallBack: fallBack(error, &step)
    case .keep, .lock, .logOut:
      phase = .reauthNeeded
      step.record()
      step.announce(.authenticationFailed(error))
    }
  }

  /// Handles a credential that had expired when the daemon started.
  mutating func foundExpired(_ means: RenewalMeans, _ step: inout some StepWriter) {
    guard phase == .authenticated, standing == .expired, activity == .idle else { return }
    standing = .usable
    lost(.expired, Self.expiredError, means, &step)
  }

  /// Restores a credential that is no longer expired because the clock was set back.
  mutating func revived(_ step: inout some StepWriter) {
    guard waitsForTheClock else { return }
    standing = .usable
    guard phase != .authenticated else { return }
    phase = .authenticated
    step.record()
    step.announce(.tokenRefreshed)
  }

  mutating func reported(_ error: SDKError, _ means: RenewalMeans, _ step: inout some StepWriter) {
    guard standing == .usable else { return }
    reportHeld(error)
    guard standing == .reported, activity == .idle else { return }
    isRenewalRefused = false
    // If the owner is notified of failures first, a mere report starts only the SDK's own renewal. An anonymous user has
    // no other.
    if means.itself || means.bridge && !policy.confirmsFirst && phase == .authenticated {
      recover(means, nil, &step)
    } else {
      probe(&step)
    }
  }

  mutating func reportHeld(_ error: SDKError) {
    guard standing == .usable, phase == .authenticated || phase == .anonymous else { return }
    standing = .reported
    objection = error
  }

  mutating func reportFollowedUp(_ means: RenewalMeans, _ step: inout some StepWriter) {
    guard standing == .reported, activity == .idle else { return }
    let error = objection ?? Self.refusedError
    standing = .usable
    reported(error, means, &step)
  }

  private mutating func probe(_ step: inout some StepWriter) {
    activity = .probing
    step.probe(epoch: epoch)
  }

  mutating func probed(_ probe: Probe, _ means: RenewalMeans, _ step: inout some StepWriter) {
    switch probe {
    case .accepted:
      standing = .usable
      isDoubted = false
      end(.done, &step)
    case .unanswered(let error): fail(error, announcing: Self.unreachable(error), &step)
    case .refused(let error):
      standing = .refused
      objection = error
      switch phase {
      case .authenticated where policy.confirmsFirst && means.bridge && !means.itself:
        confirm(attempt: 1, error, &step)
      // The vendor was not asked to renew the user, or could not be.
      case .anonymous where means.itself: doubt(error, &step)
      case .anonymous: anonymousRefused(error, &step)
      // The SDK's means of renewal was not refused, and an outage alone must not end the session.
      case _ where policy.onNoMeans != .keep && (!means.itself || isRenewalRefused):
        conclude(policy.onNoMeans, error, &step)
      default: stop(in: .reauthNeeded, error, &step)
      }
    }
  }

  /// Ends with a credential that stays reported: its refusal is not believed yet.
  private mutating func doubt(_ error: SDKError, _ step: inout some StepWriter) {
    standing = .reported
    objection = error
    end(.failed(error), &step)
  }

  /// Ends in a phase that needs a new credential.
  private mutating func stop(in next: Phase, _ error: SDKError, _ step: inout some StepWriter) {
    phase = next
    step.record()
    tell(error, &step)
    end(.failed(error), &step)
  }

  /// Handles the vendor's refusal of an anonymous user. Such a user can't be had again, and a single refusal may be a
  /// proxy's.
  private mutating func anonymousRefused(_ error: SDKError, _ step: inout some StepWriter) {
    guard isDoubted else {
      isDoubted = true
      return doubt(error, &step)
    }
    isDoubted = false
    standing = .refused
    objection = error
    guard policy.replacesAnonymousUsers else { return stop(in: .reauthNeeded, error, &step) }
    epoch += 1
    leave(as: .guest, &step)
    end(.failed(error), &step)
  }
}
