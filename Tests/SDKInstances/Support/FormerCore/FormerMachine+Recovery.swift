import SDKProtocol

@testable import SDKInstances

extension FormerMachine {
  // MARK: Ways to a new credential

  /// Starts a renewal if nothing is in progress and `means` is not empty. A lock by the vendor does not prevent it.
  mutating func renew(_ means: RenewalMeans) -> [Action] {
    guard activity == .idle, !means.isNone, phase != .locked || isLockedByVendor else { return [] }
    guard hasIdentity, standing == .expired || standing == .refused, !means.itself, policy.confirmsFirst else {
      return recover(means, nil)
    }
    // The owner has not decided yet whether to continue, so request a decision again. Subscribers know of the failure.
    isFailureTold = phase == .reauthNeeded
    return recover(means, cause)
  }

  /// Starts a renewal: by the SDK itself if it can renew, otherwise by a request to the owner.
  private mutating func recover(_ means: RenewalMeans, _ error: SDKError?) -> [Action] {
    if means.itself {
      activity = .renewing
      return [.noteSpending, .renewItself]
    }
    if let error, policy.confirmsFirst, means.bridge { return confirm(attempt: 1, error) }
    return ask(attempt: 1, error)
  }

  mutating func ask(attempt: Int, _ error: SDKError?) -> [Action] {
    activity = .asking(attempt: attempt)
    let error = error ?? refusal ?? cause
    return [.ask(attempt: attempt, isRefusal: attempt > 1 || error != nil, error)]
  }

  private mutating func confirm(attempt: Int, _ error: SDKError) -> [Action] {
    activity = .confirming(attempt: attempt)
    return tell(error) + [.confirm(error)]
  }

  /// Emits the event of the failure that the renewal is meant to repair, once per renewal.
  private mutating func tell(_ error: SDKError) -> [Action] {
    guard !isFailureTold else { return [] }
    isFailureTold = true
    return [.announce(.authenticationFailed(error))]
  }

  mutating func itselfRefused(_ error: SDKError, _ means: RenewalMeans, isFinal: Bool) -> [Action] {
    if isAnonymousUser { return anonymousRefused(error) }
    let isAlive = policy.outlivesRefusedRenewal && (standing == .usable || standing == .reported && !isFinal)
    if !isAlive, hasIdentity || phase == .locked {
      standing = .refused
      objection = error
    }
    guard means.bridge else {
      if isAlive {
        isRenewalRefused = true
        return renewalFailed(error)
      }
      return error.reason == .rotationInterrupted ? renewalFailed(error) : conclude(policy.onBudgetSpent, error)
    }
    return policy.confirmsFirst ? confirm(attempt: 1, error) : ask(attempt: 1, error)
  }

  // MARK: Answers

  mutating func confirmed(_ began: UInt64, _ confirmation: Confirmation) -> [Action] {
    guard began == epoch, case .confirming(let attempt) = activity else { return [] }
    switch confirmation {
    case .proceed: return ask(attempt: attempt, nil)
    case .declined(let error): return conclude(policy.onDenied, error)
    case .failed(let error): return renewalFailed(error)
    }
  }

  mutating func answered(_ began: UInt64, _ answer: Answer) -> [Action] {
    guard began == epoch else { return [] }
    switch (activity, answer) {
    case (.askingForSignOut, .credential):
      activity = .signingOut
      return [.endSession]
    case (.askingForSignOut, _) where policy.tellsLogoutFailure:
      // The vendor may still accept the present credential, for example on a connection that is open.
      activity = .signingOut
      return [.endSession]
    case (.askingForSignOut, _): return signedOut(.explicit, informed: false)
    case (.asking(let attempt), .credential):
      activity = .verifying(attempt: attempt)
      return [.verify]
    case (.asking, .declined(let error)):
      // The owner's choice is not a failure: a usable credential stays in use, otherwise the instance becomes a guest.
      isFailureTold = true
      return standing == .usable && hasIdentity ? end(.failed(error)) : conclude(.becomeGuest, error)
    case (.asking, .denied(let error)):
      // A guest that remains one has not failed.
      if policy.onDenied == .becomeGuest, !hasIdentity, phase != .locked { isFailureTold = true }
      return conclude(policy.onDenied, error)
    case (.asking, .failed(let error)):
      // An unavailable provider does not explain why a new credential is needed; an earlier refusal does.
      return renewalFailed(Self.nobodyWasAsked(error) ? refusal ?? error : error)
    default: return []
    }
  }

  mutating func verified(_ began: UInt64, then: (inout Self, Int) -> [Action]) -> [Action] {
    guard began == epoch, case .verifying(let attempt) = activity else { return [] }
    return then(&self, attempt)
  }

  mutating func renewed(unverified error: SDKError? = nil) -> [Action] {
    let isAnonymous = isAnonymousUser && activity == .renewing
    let isLogin = !hasIdentity && phase != .locked && !isAnonymous
    // Results of work that began without a user must not apply to the new user.
    if isLogin { epoch += 1 }
    phase = isAnonymous ? .anonymous : .authenticated
    isDoubted = false
    standing = .usable
    refusedAnswers = 0
    var actions: [Action] = [
      .adoptCredential(verified: error == nil), .announce(isLogin ? .loggedIn : .tokenRefreshed),
    ]
    if let error { actions.append(.announce(.networkError(error))) }
    return actions + end(.done)
  }

  mutating func refusedAgain(_ error: SDKError, attempt: Int) -> [Action] {
    var isSpent = attempt >= policy.maxAttempts
    if let most = policy.mostRefusals {
      refusedAnswers = min(refusedAnswers + 1, most)
      isSpent = refusedAnswers == most
    }
    if attempt < policy.maxAttempts, !isSpent {
      refusal = error
      return policy.confirmsFirst ? confirm(attempt: attempt + 1, error) : ask(attempt: attempt + 1, error)
    }
    // The cached token is valid and was never refused: bad supplied tokens are no reason to lose the user.
    if standing == .usable || !isSpent { return renewalFailed(error) }
    return conclude(policy.onBudgetSpent, error)
  }

  // MARK: Ends without a credential

  /// Ends a renewal that produced no credential, with this consequence.
  mutating func conclude(_ consequence: AuthenticationPolicy.Consequence, _ error: SDKError) -> [Action] {
    switch consequence {
    case .logOut where phase != .noUser && phase != .loggedOut:
      epoch += 1
      let told = tell(error)
      phase = .loggedOut
      standing = .none
      return [.wipe] + told + [.announce(.loggedOut(.implicit))] + end(.failed(error))
    case .becomeGuest: return becomeGuest(error)
    case .lock where phase != .noUser && phase != .loggedOut:
      phase = .locked
      standing = .refused
      return [.record] + tell(error) + end(.failed(error))
    case .fallBack:
      // A decision of the owner or the vendor holds whatever the clock says, so the credential must not be revived.
      standing = .none
      return fallBack(error)
    case .keep, .logOut, .lock: return renewalFailed(error)
    }
  }

  private mutating func becomeGuest(_ error: SDKError) -> [Action] {
    let told = tell(error)
    guard hasIdentity || phase == .locked else {
      let isNews = phase != .anonymous
      phase = .anonymous
      standing = .none
      return told + (isNews ? [.record] : []) + end(.failed(error))
    }
    epoch += 1
    phase = .anonymous
    standing = .none
    return [.wipe] + told + [.announce(.loggedOut(.guest))] + end(.failed(error))
  }

  /// Continues as an anonymous visitor after a failure. A credential that has expired by the clock is kept until
  /// another one replaces it.
  private mutating func fallBack(_ error: SDKError) -> [Action] {
    // Without an identity, subscribers know of the visitor already, and a provider's back-off is no news.
    let isNews = hasIdentity || error.reason != .providerBackoff
    let cause = explained(error)
    phase = .anonymous
    if standing != .expired { standing = .none }
    let told = isNews ? tell(cause) + [.announce(.fellBackToAnonymous(cause))] : []
    return [.fallBack] + told + end(.failed(error))
  }

  mutating func renewalFailed(_ error: SDKError) -> [Action] {
    if standing != .usable, standing != .reported, policy.onFailure == .fallBack { return fallBack(error) }
    var actions: [Action] = []
    if !Self.nobodyWasAsked(error) { actions.append(.announce(.refreshFailed(error))) }
    if let outage = Self.unreachable(error) { actions.append(.announce(outage)) }
    switch standing {
    case .usable: return actions + end(.failed(error))
    case .reported:
      activity = .probing
      isFailureTold = false
      return actions + [.probe]
    case .none where !hasIdentity:
      // No user was signed in, so a refusal by the vendor is a failed login.
      if error.origin == .vendor { actions += tell(error) }
      return actions + end(.failed(error))
    case .none, .expired, .refused:
      if phase == .authenticated {
        phase = .reauthNeeded
        // An outage is not an authentication failure.
        actions += [.record] + (Self.unreachable(error) == nil ? tell(explained(error)) : [])
      }
      return actions + end(.failed(error))
    }
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
  mutating func lost(_ standing: Standing, _ error: SDKError, _ means: RenewalMeans) -> [Action] {
    guard phase == .authenticated, self.standing == .usable || self.standing == .reported else { return [] }
    switch activity {
    case .idle, .renewing, .confirming, .asking, .verifying: break
    // The expiry is detected again after the activity. If it were recorded now, no renewal would follow.
    case _ where standing == .expired: return []
    default: break
    }
    self.standing = standing
    objection = standing == .refused ? error : nil
    guard activity == .idle else { return [] }
    if !means.isNone { return recover(means, standing == .refused ? error : nil) }
    switch policy.onNoMeans {
    case .becomeGuest: return becomeGuest(error)
    case .fallBack: return fallBack(error)
    case .keep, .lock, .logOut: break
    }
    phase = .reauthNeeded
    return [.record, .announce(.authenticationFailed(error))]
  }

  /// Restores a credential that is no longer expired because the clock was set back.
  mutating func revived() -> [Action] {
    guard waitsForTheClock else { return [] }
    standing = .usable
    guard phase != .authenticated else { return [] }
    phase = .authenticated
    return [.record, .announce(.tokenRefreshed)]
  }

  mutating func reported(_ error: SDKError, _ means: RenewalMeans) -> [Action] {
    guard standing == .usable, phase == .authenticated || phase == .anonymous else { return [] }
    standing = .reported
    objection = error
    guard activity == .idle else { return [] }
    isRenewalRefused = false
    // If the owner is notified of failures first, a mere report starts only the SDK's own renewal. An anonymous user has
    // no other.
    if means.itself || means.bridge && !policy.confirmsFirst && phase == .authenticated { return recover(means, nil) }
    activity = .probing
    return [.probe]
  }

  mutating func probed(_ probe: Probe, _ means: RenewalMeans) -> [Action] {
    switch probe {
    case .accepted:
      standing = .usable
      isDoubted = false
      return end(.done)
    case .unanswered(let error): return abandoned() + end(.failed(error), announcing: Self.unreachable(error))
    case .refused(let error):
      standing = .refused
      objection = error
      if phase == .authenticated, policy.confirmsFirst, means.bridge, !means.itself {
        return confirm(attempt: 1, error)
      }
      guard phase == .anonymous else {
        // The SDK's means of renewal was not refused, and an outage alone must not end the session.
        if policy.onNoMeans != .keep, !means.itself || isRenewalRefused { return conclude(policy.onNoMeans, error) }
        phase = .reauthNeeded
        return [.record] + tell(error) + end(.failed(error))
      }
      guard means.itself else { return anonymousRefused(error) }
      // The vendor was not asked to renew the user, or could not be.
      standing = .reported
      objection = error
      return end(.failed(error))
    }
  }

  /// Handles the vendor's refusal of an anonymous user. Such a user can't be had again, and a single refusal may be a
  /// proxy's.
  private mutating func anonymousRefused(_ error: SDKError) -> [Action] {
    guard isDoubted else {
      isDoubted = true
      standing = .reported
      objection = error
      return end(.failed(error))
    }
    isDoubted = false
    standing = .refused
    objection = error
    guard policy.replacesAnonymousUsers else {
      phase = .reauthNeeded
      return [.record] + tell(error) + end(.failed(error))
    }
    epoch += 1
    phase = .loggedOut
    standing = .none
    return [.wipe, .announce(.loggedOut(.guest))] + end(.failed(error))
  }
}
