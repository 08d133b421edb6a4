import DelegateBridge
import SDKProtocol
import StateStore

extension InstanceCore {
  /// Applies the result of work that an effect began. If the service is gone by then, only closes the result's
  /// connection.
  mutating func received(
    _ input: Input, on service: String?, with result: SignedIn? = nil, _ context: StepContext
  ) -> Step {
    guard !isDeleted, self[service] != nil else { return abandoning(result, on: service) }
    if input.isAnswer { self[service]?.outageToldAt = nil }
    return apply(input, on: service, with: result, context)
  }

  /// Returns the step for a result that is not used: it closes the result's connection.
  func abandoning(_ result: SignedIn?, on service: String?) -> Step {
    guard let connection = result?.connection else { return Step() }
    return Step([.abandon(connection)], on: service)
  }

  // MARK: Logins

  /// Applies the result of a login that the adapter has completed or prepared. One that can't be stored, or that ends
  /// after the instance was deleted or the service removed, is undone at the vendor.
  mutating func signedIn(
    _ result: SignedIn, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service] else { return Step(undoing(result), on: service) }
    if result.prepared == nil, result.isTold { self[service]?.outageToldAt = nil }
    if epoch == state.machine.epoch {
      self[service]?.recovery.random = context.random
      if let isSameUser = result.isSameUser, state.identity.user != .none {
        self[service]?.running?.sameUser = isSameUser
      }
    }
    var step = apply(.signInAccepted(epoch: epoch, prepared: result.prepared), on: service, with: result, context)
    step.login = result
    return step
  }

  /// Applies the vendor's confirmation that the former user's session has ended for a login. If the login was superseded
  /// meanwhile, it counts as long as that user's credential has not changed.
  mutating func formerEnded(
    _ credential: Credential?, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    let state = self[service]
    guard epoch == state?.machine.epoch || state?.identity.credential?.tokenId == credential?.tokenId else {
      return Step()
    }
    return received(.formerEnded(epoch: epoch, informed: true), on: service, context)
  }

  // MARK: Answers of the bridge

  /// Handles a response of the bridge: checks the credential in it, which is then shown to the vendor. An invalid one
  /// counts as a failure of the bridge.
  mutating func answered(
    _ answer: BridgeAnswer, epoch: UInt64, askedAt: Timestamp, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service] else { return Step() }
    var step: Step
    var isUsable = true
    do throws(SDKError) {
      if let checked = try check(answer, for: state, context) {
        self[service]?.recovery.answerTime.note(min(max(0, context.now - askedAt), 60))
        step = offered(checked, isProvided: false, epoch: epoch, on: service, context)
        // A credential that is shown to the vendor is judged by the result of that.
        if step.effects.contains(where: { if case .verify = $0.effect { true } else { false } }) { return step }
      } else {
        step = apply(.answered(epoch: epoch, .declined(noToken(of: state, as: .anonymous))), on: service, context)
      }
    } catch {
      isUsable = false
      step = apply(.answered(epoch: epoch, .failed(error)), on: service, context)
    }
    step.effects.insert((service, .judgeAnswer(isUsable: isUsable)), at: 0)
    return step
  }

  /// Passes a credential to the state machine, to be shown to the vendor next.
  ///
  /// - Parameter isProvided: whether it was provided in advance, and not by the bridge.
  mutating func offered(
    _ credential: CheckedCredential, isProvided: Bool, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service] else { return Step() }
    if epoch == state.machine.epoch {
      self[service]?.running?.offered = credential
      self[service]?.running?.offersProvided = isProvided
    }
    return apply(.answered(epoch: epoch, .credential), on: service, context)
  }

  /// Returns the checked credential of an answer; `nil` if the owner declines to give one. A check that fails by one
  /// clock only is passed, because then the vendor must decide.
  ///
  /// - Throws: `providerTokenForOtherUser` for the credential of another user; the errors of the adapter's check.
  private func check(
    _ answer: BridgeAnswer, for state: ServiceState, _ context: StepContext
  ) throws(SDKError) -> CheckedCredential? {
    do throws(SDKError) {
      return try check(answer, for: state, at: context.vendorNow)
    } catch {
      if context.vendorAhead != 0, let checked = try? check(answer, for: state, at: context.now) {
        return checked
      }
      throw error
    }
  }

  private func check(
    _ answer: BridgeAnswer, for state: ServiceState, at now: Timestamp
  ) throws(SDKError) -> CheckedCredential? {
    if answer.token != nil, let expiresAt = answer.expiresAt, expiresAt <= now {
      throw SDKError(
        .provider, .providerOutputInvalid,
        "The token provider gave a token that has expired: its expiresAt is past; it must give a fresh one.")
    }
    guard let checked = try adapter.check(answer, for: state.identity, now: now) else { return nil }
    if adapter.isSameUser(checked, as: state.identity) == false {
      throw SDKError(
        .provider, .providerTokenForOtherUser,
        "The token provider gave a token for another user; a refresh never switches users. Log in to switch.")
    }
    return checked
  }

  // MARK: Renewals

  /// Handles the failure of a renewal that the SDK made without the bridge: a refusal by the vendor, or another error.
  mutating func renewalFailed(
    _ failure: SDKError, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, var state = self[service] else { return Step() }
    guard adapter.isRefusal(failure) else {
      // A vendor that limits the rate has not processed the request, so it has spent nothing.
      if failure.origin == .unreachable, failure.reason != .rateLimited {
        state.isInterrupted = adapter.capabilities.renewal?.spends(state.identity) ?? false
        self[service] = state
      }
      return apply(.itselfFailed(epoch: epoch, failure), on: service, context)
    }
    state.outageToldAt = nil
    var error = failure
    if epoch == state.machine.epoch {
      if state.isInterrupted {
        state.isInterrupted = false
        error = SDKError(
          .state, .rotationInterrupted,
          "The refresh token was spent and its answer lost (\(failure.message)); sign in again or answer through the "
            + "bridge.", instance: id, httpStatus: failure.httpStatus, vendorCode: failure.vendorCode,
          vendorDescription: failure.vendorDescription)
      }
      if let renewal = adapter.capabilities.renewal {
        state.identity.kindState = renewal.kindState(afterRefusalOf: state.identity)
      }
      state.identity.isSpending = nil
    }
    self[service] = state
    let isFinal = adapter.traits.finalReason == error.reason
    return apply(
      .itselfRefused(epoch: epoch, error, means: means(state, context), isFinal: isFinal), on: service, context)
  }

  /// Applies the success of a renewal, by the SDK itself or with an offered credential. If the identity has changed or
  /// the service was removed meanwhile, the result is not used, and one that is irreplaceable is undone at the vendor.
  mutating func renewed(
    _ result: SignedIn, byItself: Bool, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard var state = self[service], epoch == state.machine.epoch else {
      // The identity is gone: unless the result is undone, the vendor's grant stays valid, or the user online.
      let isOnline = result.connection != nil && self[service]?.hasSignedOut(since: epoch) != false
      guard result.isIrreplaceable || result.isUndoneIfLate || isOnline else { return abandoning(result, on: service) }
      return Step(undoing(result), on: service)
    }
    guard !isDeleted else { return abandoning(result, on: service) }
    state.outageToldAt = nil
    state.recovery.random = context.random
    state.isVerified = true
    state.isInterrupted = false
    self[service] = state
    let input: Input = byItself ? .renewedItself(epoch: epoch) : .credentialAccepted(epoch: epoch)
    return apply(input, on: service, with: result, context)
  }

  /// Stores the kind's state from a renewal whose response can't be used, because it may hold the only valid refresh
  /// token.
  mutating func keep(_ result: SignedIn, of service: String?) -> Step {
    guard let state = self[service] else { return Step() }
    var record = state.identity
    record.kindState = result.kindState
    // A result that can be obtained again does not make up for an irreplaceable one that was lost before.
    let isInterrupted = state.isInterrupted && !result.isIrreplaceable
    record.isSpending = isInterrupted ? true : nil
    self[service]?.isInterrupted = isInterrupted
    return replaceIdentity(of: service, by: record)
  }

  /// Handles the result of a renewal that could not be stored: closes its connection, and notes the loss if it is
  /// irreplaceable.
  mutating func lost(_ result: SignedIn, of service: String?) -> Step {
    if result.isIrreplaceable { self[service]?.isInterrupted = true }
    return abandoning(result, on: service)
  }

  /// Handles the failure to show an offered credential to the vendor.
  mutating func verificationFailed(
    _ error: SDKError, of offered: CheckedCredential, isProvided: Bool, epoch: UInt64, on service: String?,
    _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service] else { return Step() }
    switch error.origin {
    case .unreachable:
      // The vendor has not seen the credential. Kinds with `usesUnverified` use it all the same.
      if isProvided, !adapter.traits.policy.usesUnverified, state.machine.epoch == epoch {
        self[service]?.provided = offered
      }
      let result = adapter.unverified(offered, of: state.identity)
      return received(.credentialUnverifiable(epoch: epoch, error), on: service, with: result, context)
    case _ where adapter.isRefusal(error) && adapter.traits.finalReason != error.reason:
      return received(.credentialRefused(epoch: epoch, error), on: service, context)
    default:
      return received(.verificationFailed(epoch: epoch, error), on: service, context)
    }
  }

  // MARK: Probes

  /// Handles the result of the probe of a credential that an app reported.
  mutating func probed(
    _ error: SDKError?, epoch: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service] else { return Step() }
    let probe: AuthenticationMachine.Probe
    switch error {
    case nil: probe = .accepted
    // A user without the permission is still known to the vendor, which accepts the credential.
    case let error? where error.origin == .vendor:
      probe = error.reason == .forbidden && !adapter.isRefusal(error) ? .accepted : .refused(error)
    case let error?: probe = .unanswered(error)
    }
    return received(.probed(epoch: epoch, probe, means: means(state, context)), on: service, context)
  }

  /// Handles the result of the first probe of a credential from before this process.
  ///
  /// - Parameter learned: what the vendor said about the user.
  mutating func verified(
    _ credential: Credential, epoch: UInt64, _ error: SDKError?, learned: LearnedUser? = nil, on service: String?,
    _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service], epoch == state.machine.epoch else { return Step() }
    self[service]?.isVerified = error?.origin != .unreachable
    guard let error else {
      guard let learned, state.identity.credential?.tokenId == credential.tokenId else { return Step() }
      var record = state.identity
      record.user.id = learned.id
      record.kindState.merge(learned.kindState) { _, new in new }
      return replaceIdentity(of: service, by: record)
    }
    if adapter.isRefusal(error) { return refused(credential.tokenId, error, on: service, context) }
    return error.origin == .unreachable ? announce(.networkError(error), on: service, context) : Step()
  }

  /// Handles the vendor's refusal of a credential, unless another one has taken its place.
  ///
  /// - Parameter renews: whether to renew the credential; `false` so that renewals don't loop.
  mutating func refused(
    _ tokenId: TokenID, _ error: SDKError, renews: Bool = true, on service: String?, _ context: StepContext
  ) -> Step {
    guard let state = self[service], state.identity.credential?.tokenId == tokenId else { return Step() }
    return apply(.refused(error, means: renews ? means(state, context) : .none), on: service, context)
  }

  /// Handles the vendor's refusal of a request in the user's name. Begins a renewal if none is in progress; the caller
  /// waits for it.
  ///
  /// - Parameter identity: the identity in whose name the request was sent.
  /// - Throws: `superseded` if the user has changed since.
  mutating func requestRefused(
    _ error: SDKError, of identity: IdentityRecord, on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    guard state.identity.subject == identity.subject else {
      throw SDKError(.state, .superseded, "The user of \(id) changed meanwhile; try again.", instance: id)
    }
    if hasOther(than: identity.credential, on: service) { return Step() }
    var step = state.machine.isRecovering ? Step() : credentialRefused(error, on: service, context)
    if let next = self[service], next.machine.isRecovering { step.awaited = next.running?.id }
    return step
  }

  /// Whether a credential other than `former` is present and may be issued.
  func hasOther(than former: Credential?, on service: String?) -> Bool {
    guard let state = self[service], state.machine.mayHandOut else { return false }
    return state.identity.credential?.tokenId != former?.tokenId
  }

  /// Handles the vendor's refusal of the present credential. An anonymous user's credential is renewed by the SDK
  /// itself, or probed first.
  mutating func credentialRefused(_ error: SDKError, on service: String?, _ context: StepContext) -> Step {
    guard let state = self[service] else { return Step() }
    let means = means(state, context)
    let input: Input =
      state.machine.phase == .anonymous
      ? .reported(error, means: .init(itself: means.itself)) : .refused(error, means: means)
    return apply(input, on: service, context)
  }

  /// Returns the step that only emits the event of a notice, such as that of a credential refused by the local checks.
  /// The notice's error becomes `lastError`.
  mutating func announce(
    _ notice: AuthenticationMachine.Notice, on service: String?, operation: String? = nil, _ context: StepContext
  ) -> Step {
    guard !isDeleted, var state = self[service] else { return Step() }
    if let error = notice.failure { state.identity.lastError = .init(error, at: context.now) }
    var change = newChange()
    if notice.isNews(&state.outageToldAt, context.now) {
      var event = event(notice, of: state, result: nil, context)
      event.operation = operation
      change.events.append(event)
    }
    self[service] = state
    return step(committing: change)
  }
}

extension AuthenticationMachine.Input {
  /// Whether the input means that the vendor responded, even with a refusal.
  fileprivate var isAnswer: Bool {
    switch self {
    case .formerEnded, .signOutAccepted, .anonymousAccepted, .credentialRefused, .verificationFailed,
      .renewedItself, .itselfRefused, .probed(_, .accepted, _), .probed(_, .refused, _):
      true
    case .signInFailed(_, let error), .formerEndFailed(_, let error), .signOutFailed(_, let error),
      .anonymousFailed(_, let error):
      error.origin == .vendor
    default: false
    }
  }
}
