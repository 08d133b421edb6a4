import SDKProtocol

extension AuthenticationMachine {
  mutating func ask(attempt: Int, _ error: SDKError?) -> [Action] {
    activity = .asking(attempt: attempt)
    return [.ask(attempt: attempt, isRefusal: attempt > 1 || standing != .usable, error)]
  }

  mutating func answered(_ began: UInt64, _ answer: Answer) -> [Action] {
    guard began == epoch else { return [] }
    switch (activity, answer) {
    case (.askingForSignOut, .credential):
      activity = .signingOut
      return [.endSession]
    case (.askingForSignOut, _): return signedOut(.explicit, informed: false)
    case (.asking(let attempt), .credential):
      activity = .verifying(attempt: attempt)
      return [.verify]
    case (.asking, .denied(let error)): return conclude(policy.onDenied, error)
    case (.asking, .failed(let error)): return renewalFailed(error)
    default: return []
    }
  }

  mutating func verified(_ began: UInt64, then: (inout Self, Int) -> [Action]) -> [Action] {
    guard began == epoch, case .verifying(let attempt) = activity else { return [] }
    return then(&self, attempt)
  }

  mutating func renewed(unverified error: SDKError? = nil) -> [Action] {
    phase = .authenticated
    standing = .usable
    var actions: [Action] = [.adoptCredential(verified: error == nil), .announce(.tokenRefreshed)]
    if let error { actions.append(.announce(.networkError(error))) }
    return actions + end(.done)
  }

  mutating func refusedAgain(_ error: SDKError, attempt: Int) -> [Action] {
    if attempt < policy.maxAttempts { return ask(attempt: attempt + 1, error) }
    // The cached token lives and was never refused: bad supplies are no reason to lose the user.
    if standing == .usable { return renewalFailed(error) }
    return conclude(policy.onBudgetSpent, error)
  }

  /// Recovery has ended without a credential.
  mutating func conclude(_ consequence: AuthenticationPolicy.Consequence, _ error: SDKError) -> [Action] {
    switch consequence {
    case .logOut:
      epoch += 1
      phase = .loggedOut
      standing = .none
      return [.wipe, .announce(.authenticationFailed(error)), .announce(.loggedOut(.implicit))] + end(.failed(error))
    case .lock:
      phase = .locked
      return [.record, .announce(.authenticationFailed(error))] + end(.failed(error))
    case .keep: return renewalFailed(error)
    }
  }

  mutating func renewalFailed(_ error: SDKError) -> [Action] {
    var actions: [Action] = []
    if !Self.nobodyWasAsked(error) { actions.append(.announce(.refreshFailed(error))) }
    switch standing {
    case .usable: return actions + end(.failed(error))
    case .reported:
      activity = .probing
      return actions + [.probe]
    case .none, .expired, .refused:
      if phase != .reauthNeeded {
        phase = .reauthNeeded
        actions += [.record, .announce(.authenticationFailed(error))]
      }
      return actions + end(.failed(error))
    }
  }

  private static func nobodyWasAsked(_ error: SDKError) -> Bool {
    error.reason == .noProvider || error.reason == .providerBackoff
  }

  /// The credential is dead: renew it, or say once that it can't be.
  mutating func lost(_ standing: Standing, _ error: SDKError, canRenew: Bool) -> [Action] {
    guard phase == .authenticated, self.standing == .usable || self.standing == .reported else { return [] }
    switch activity {
    case .idle, .asking, .verifying: break
    // An end that has passed is seen again afterwards; nobody would renew the credential if it were noted now.
    case _ where standing == .expired: return []
    default: break
    }
    self.standing = standing
    guard activity == .idle else { return [] }
    if canRenew { return ask(attempt: 1, standing == .refused ? error : nil) }
    phase = .reauthNeeded
    return [.record, .announce(.authenticationFailed(error))]
  }

  mutating func reported(canRenew: Bool) -> [Action] {
    guard standing == .usable, phase == .authenticated || phase == .anonymous else { return [] }
    standing = .reported
    guard activity == .idle else { return [] }
    if canRenew, phase == .authenticated { return ask(attempt: 1, nil) }
    activity = .probing
    return [.probe]
  }

  mutating func probed(_ probe: Probe) -> [Action] {
    switch probe {
    case .accepted:
      standing = .usable
      return end(.done)
    case .unanswered(let error): return abandoned() + end(.failed(error), announcing: Self.unreachable(error))
    case .refused(let error):
      standing = .refused
      guard phase == .anonymous else {
        phase = .reauthNeeded
        return [.record, .announce(.authenticationFailed(error))] + end(.failed(error))
      }
      epoch += 1
      phase = .noUser
      standing = .none
      return [.wipe, .announce(.loggedOut(.implicit))] + end(.failed(error))
    }
  }
}
