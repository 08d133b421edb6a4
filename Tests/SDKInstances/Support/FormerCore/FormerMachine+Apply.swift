import SDKProtocol

@testable import SDKInstances

extension FormerMachine {
  /// Processes an input and returns the actions to execute.
  mutating func apply(_ input: Input) -> [Action] {
    switch input {
    case .signIn(let sameUser): return signIn(sameUser: sameUser)
    case .formerEnded(let began, let informed):
      if isCurrent(began, .endingFormer) { return formerEnded() }
      return informed ? formerEndedLate() : []
    case .formerEndFailed(let began, let error):
      return isCurrent(began, .endingFormer) ? endSignIn(error) : []
    case .signInAccepted(let began, let prepared):
      let acceptance: Acceptance = prepared.map { .prepared($0) } ?? .login
      return isCurrent(began, .signingIn) ? signedIn(acceptance) : [.undo]
    case .signInFailed(let began, let error): return isCurrent(began, .signingIn) ? endSignIn(error) : []

    case .signOut(let localOnly, let cause, let hasExpired):
      if hasExpired, standing == .usable { standing = .expired }
      return signOut(localOnly: localOnly, cause)
    case .signOutAccepted(let began):
      return isCurrent(began, .signingOut) ? signedOut(.explicit, informed: true) : []
    case .signOutFailed(let began, let error):
      return isCurrent(began, .signingOut) ? signOutFailed(error) : []

    case .userNeeded: return userNeeded()
    case .anonymousAccepted(let began): return isCurrent(began, .creatingAnonymous) ? anonymousCreated() : [.undo]
    case .anonymousFailed(let began, let error):
      return isCurrent(began, .creatingAnonymous) ? end(.failed(error), announcing: Self.unreachable(error)) : []

    case .renew(let means): return renew(means)
    case .renewedItself(let began): return isCurrent(began, .renewing) ? renewed() : []
    case .itselfRefused(let began, let error, let means, let isFinal):
      return isCurrent(began, .renewing) ? itselfRefused(error, isFinal ? .none : means, isFinal: isFinal) : []
    case .itselfFailed(let began, let error): return isCurrent(began, .renewing) ? renewalFailed(error) : []
    case .confirmed(let began, let confirmation): return confirmed(began, confirmation)
    case .answered(let began, let answer): return answered(began, answer)
    case .credentialAccepted(let began): return verified(began) { machine, _ in machine.renewed() }
    case .credentialUnverifiable(let began, let error):
      return verified(began) { machine, _ in
        machine.policy.usesUnverified ? machine.renewed(unverified: error) : machine.renewalFailed(error)
      }
    case .credentialRefused(let began, let error):
      return verified(began) { $0.refusedAgain(error, attempt: $1) }
    case .verificationFailed(let began, let error):
      return verified(began) { machine, _ in machine.renewalFailed(error) }

    case .expired(let means): return lost(.expired, Self.expiredError, means)
    case .foundExpired(let means): return foundExpired(means)
    case .refused(let error, let means): return lost(.refused, error, means)
    case .revived: return revived()
    case .reported(let error, let means): return reported(error, means)
    case .reportHeld(let error): return reportHeld(error)
    case .reportFollowedUp(let means): return reportFollowedUp(means)
    case .probed(let began, let probe, let means): return isCurrent(began, .probing) ? probed(probe, means) : []
    case .merged: return merged()
    case .mergedAway: return mergedAway()
    case .wipeFailed: return wipeFailed()
    }
  }

  private mutating func foundExpired(_ means: RenewalMeans) -> [Action] {
    guard phase == .authenticated, standing == .expired, activity == .idle else { return [] }
    standing = .usable
    return lost(.expired, Self.expiredError, means)
  }

  private mutating func reportHeld(_ error: SDKError) -> [Action] {
    guard standing == .usable, phase == .authenticated || phase == .anonymous else { return [] }
    standing = .reported
    objection = error
    return []
  }

  private mutating func reportFollowedUp(_ means: RenewalMeans) -> [Action] {
    guard standing == .reported, activity == .idle else { return [] }
    let error = objection ?? Self.refusedError
    standing = .usable
    return reported(error, means)
  }

  private mutating func wipeFailed() -> [Action] {
    // The work in progress is for a user whose credential must not be issued any more.
    epoch += 1
    phase = .locked
    standing = .none
    rest()
    return []
  }

  /// The error for an expired credential.
  static let expiredError = SDKError(
    .vendor, .expiredJWT, "The JWT has expired. Log in again, or configure a token provider.")

  static let refusedError = SDKError(
    .vendor, .invalidAuth, "The vendor refused the token. Log in again, or wait for the token provider.")

  func isCurrent(_ began: UInt64, _ expected: Activity) -> Bool { began == epoch && activity == expected }

  /// Begins a change of identity: supersedes the former activity, and raises the epoch so that its results are ignored.
  mutating func begin(_ next: Activity) -> [Action] {
    isDoubted = false
    refusedAnswers = 0
    let actions: [Action] = activity == .idle ? [] : [.supersede]
    epoch += 1
    rest()
    activity = next
    return actions
  }

  /// Ends the activity without a result, and clears all data about it.
  mutating func rest() {
    activity = .idle
    isFailureTold = false
    isRenewalRefused = false
    refusal = nil
  }

  mutating func end(_ outcome: Outcome, announcing notice: Notice? = nil) -> [Action] {
    rest()
    return (notice.map { [.announce($0)] } ?? []) + [.finish(outcome)]
  }

  static func unreachable(_ error: SDKError) -> Notice? {
    error.origin == .unreachable ? .networkError(error) : nil
  }

  // MARK: Login

  private mutating func signIn(sameUser: Bool?) -> [Action] {
    guard hasIdentity, sameUser == false else { return begin(.signingIn) + [.exchange] }
    // Store first: if the disk is full, the vendor must not learn of a change that can't be stored.
    return policy.onAnotherUser == .signOutFirst
      ? begin(.endingFormer) + [.record, .endFormer] : begin(.signingIn) + [.record, .exchange]
  }

  private mutating func formerEnded() -> [Action] {
    activity = .signingIn
    return (hasIdentity ? leave() : []) + [.exchange]
  }

  /// Handles the end of the present user's session at the vendor for a login that was superseded meanwhile.
  private mutating func formerEndedLate() -> [Action] {
    guard hasIdentity else { return [] }
    switch activity {
    case .askingForSignOut, .signingOut:
      // Its own request fails, or ends what has ended. The user is signed out with it.
      standing = .none
      return []
    case .endingFormer, .signingIn, .creatingAnonymous: return leave()
    case .idle, .renewing, .confirming, .asking, .verifying, .probing: return begin(.idle) + leave()
    }
  }

  /// Leaves the user, whose session has ended for the sake of a login, while the activity continues.
  private mutating func leave() -> [Action] {
    phase = .loggedOut
    standing = .none
    return [.wipe, .announce(.loggedOut(.switch))]
  }

  private mutating func signedIn(_ acceptance: Acceptance) -> [Action] {
    // A locked instance may still store data that a failed wipe left behind.
    let wipe =
      policy.onAnotherUser == .wipeOnSuccess || phase == .locked
      || policy.onAnotherUser == .signOutAfter && hasIdentity
    activity = .idle
    if case .prepared(let rest) = acceptance {
      let isStillKept = hasFallenBack && rest == .anonymous
      if !isStillKept, rest != .authenticated || phase != .authenticated { standing = .none }
      let isAlive = standing == .usable || standing == .reported
      phase = rest == .authenticated && !isAlive ? .reauthNeeded : rest
      return [.adopt(wipe: wipe), .finish(.done)]
    }
    phase = .authenticated
    standing = .usable
    return [.adopt(wipe: wipe), .announce(.loggedIn), .finish(.done)]
  }

  private mutating func endSignIn(_ error: SDKError) -> [Action] {
    switch error.origin {
    case .unreachable: return abandoned() + end(.failed(error), announcing: .networkError(error))
    case .store: return abandoned() + end(.failed(error))
    default: return abandoned(isTold: true) + end(.failed(error), announcing: .authenticationFailed(error))
    }
  }

  /// Handles the failure of an activity that had superseded the renewal of an expired or refused credential: the phase
  /// becomes `reauthNeeded`. With `isTold`, no event of its own is emitted.
  mutating func abandoned(isTold: Bool = false) -> [Action] {
    guard phase == .authenticated, standing == .expired || standing == .refused else { return [] }
    phase = .reauthNeeded
    return isTold ? [.record] : [.record, .announce(.authenticationFailed(cause ?? Self.refusedError))]
  }

  // MARK: Logout

  private mutating func signOut(localOnly: Bool, _ cause: LogoutCause) -> [Action] {
    switch phase {
    case .noUser, .loggedOut:
      return begin(.idle) + [.finish(.signedOut(informed: false))]
    case .anonymous, .locked:
      return begin(.signingOut) + signedOut(cause, informed: false)
    case .authenticated, .reauthNeeded:
      if localOnly { return begin(.signingOut) + signedOut(cause, informed: false) }
      // Store first: if the disk is full, the vendor must not learn of a change that can't be stored.
      if standing == .usable || standing == .reported || !policy.renewsToSignOut {
        return begin(.signingOut) + [.record, .endSession]
      }
      return begin(.askingForSignOut) + [.record, .ask(attempt: 1, isRefusal: true, self.cause)]
    }
  }

  mutating func signedOut(_ cause: LogoutCause, informed: Bool) -> [Action] {
    phase = cause == .deauthorized ? .noUser : .loggedOut
    standing = .none
    return [.wipe, .announce(.loggedOut(cause))] + end(.signedOut(informed: informed))
  }

  private mutating func signOutFailed(_ error: SDKError) -> [Action] {
    switch error.origin {
    case .unreachable, .store:
      let notice = policy.tellsLogoutFailure ? .logoutFailed(error) : Self.unreachable(error)
      return abandoned() + end(.failed(error), announcing: notice)
    default: return signedOut(.explicit, informed: false)
    }
  }

  // MARK: Anonymous users

  private mutating func userNeeded() -> [Action] {
    guard activity == .idle, phase == .noUser || phase == .loggedOut else { return [] }
    return begin(.creatingAnonymous) + [.createAnonymous]
  }

  private mutating func anonymousCreated() -> [Action] {
    phase = .anonymous
    standing = .usable
    return [.adopt(wipe: false), .announce(.anonymousUserCreated)] + end(.done)
  }

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
