import DelegateBridge
import SDKProtocol
import StateStore

@testable import SDKInstances

extension InstanceCore {
  /// Applies an input to a service as `apply` did when the machine returned actions.
  ///
  /// - Parameters:
  ///   - begun: the activity that the input begins, if it begins one.
  ///   - result: the vendor's result, for inputs that carry one.
  ///   - isInformed: whether the vendor has ended the wiped user's session.
  mutating func formerApply(
    _ input: Input, on service: String?, beginning begun: RunningActivity? = nil, with result: SignedIn? = nil,
    isInformed: Bool = false, _ context: StepContext
  ) -> Step {
    guard let former = self[service] else { return Step() }
    var state = former
    var machine = FormerMachine(former.machine)
    let actions = machine.apply(input)
    state.machine = machine.present
    let isKnown = isInformed || input.tellsThatVendorKnows
    let pending = FormerPendingChange(
      actions, next: machine, result: result, activity: begun ?? former.running, isInformed: isKnown,
      of: former, in: self, context)
    var step = Step()
    step.wiping = [former.running?.id, begun?.id].compactMap { $0 }
    state.outageToldAt = pending.outageToldAt
    if let ended = state.rememberFormerRecovery(former.machine, actions, after: input, context) {
      step.add(.renewalEnded(EndedRenewal(kind: kind, trigger: ended.trigger, outcome: ended.outcome)), on: service)
    }
    if state.machine.epoch != former.machine.epoch { step.add(.endDemand, on: service) }
    let sameUser = (begun ?? former.running)?.sameUser
    if former.machine.activity == .signingIn, pending.adopts, sameUser != true, state.recovery.hasThrottle {
      // No request was made for the next user yet.
      state.recovery = state.recovery.ofNextUser(context.now)
      step.add(.resetBreaker, on: service)
    }
    if actions.contains(.supersede) {
      if let ended = former.running { step.add(.supersede(ended.id, superseded), on: service) }
      state.running = nil
    }
    if let begun { state.running = begun }
    if state.running == nil, state.machine.activity != .idle { state.running = RunningActivity(newActivity()) }
    step.failure =
      pending.mayBeLost
      ? .keepIdentityInMemory
      : Self.formerFailure(
        of: actions, after: input, ending: [begun?.id, state.running?.id], former: former, isKnownToVendor: isKnown)
    // A credential that was provided for the wiped user must not sign them in again.
    if actions.contains(.wipe) { state.provided = nil }
    if input.tellsThatVendorKnows, actions.contains(.wipe) { state.lastSignOut = state.machine.epoch }
    if case .verifying = former.machine.activity, pending.adopts { state.recovery.supplied(context.now) }
    if pending.isDurable {
      state.identity = pending.record
      state.storedEpoch += pending.raise
      (pushes, deliveries) = (pending.pushes, pending.deliveries)
      if !pending.givenUp.isEmpty { step.add(.logDropped(pending.givenUp), on: service) }
    }
    if let result, pending.adopts { step.add(state.adoptFormer(result, context), on: service) }
    if pending.adopts {
      let isAccepted = result?.isTold == true && result?.prepared == nil
      step.add(state.compareClocks(isAccepted: isAccepted, context), on: service)
    }
    if case .probed(_, .accepted, _) = input { step.add(state.compareClocks(isAccepted: true, context), on: service) }
    if case .formerEnded = input, actions.contains(.wipe) { state.running?.beginAnew(from: state.identity) }
    if pending.restoresPushes { step.add(.restorePushes, on: service) }
    for case .announce(let notice) in actions { step.add(state.formerLog(of: notice), on: service) }
    for action in actions { step.add(effects(of: action, on: &state, result: result, context), on: service) }
    step.add(keepConnection(&state, context), on: service)
    self[service] = state
    if pending.isDurable {
      let done = commit(pending.change, raising: pending.raise)
      (step.change, step.error) = (done.change, done.error)
    }
    step.effects += startDeliveries(context)
    return step
  }

  /// Returns what the failed commit of a step means that is not kept in memory.
  ///
  /// - Parameter ids: the activities that the step has begun or continued.
  private static func formerFailure(
    of actions: [FormerMachine.Action], after input: Input, ending ids: [ActivityID?], former: ServiceState,
    isKnownToVendor: Bool
  ) -> Step.Failure {
    var wipe: LogoutCause? = actions.contains(.wipe) ? .explicit : nil
    for case .announce(.loggedOut(let cause)) in actions where wipe != nil { wipe = cause }
    // A result ends the activity that it belongs to. Any other input leaves the present activity as it was.
    let rests = wipe != nil || input.wasResult
    var ended = Set(ids.compactMap { $0 })
    if let former = former.running { if rests { ended.insert(former.id) } else { ended.remove(former.id) } }
    return .end(ended, of: former.service, rests: rests, wipe: wipe, isKnownToVendor: isKnownToVendor)
  }

  /// Ends a step after its commit. Adopts `next` or keeps the present state, as the outcome of the commit and the
  /// step's `failure` require.
  mutating func formerSettle(
    _ step: Step, to next: InstanceCore, _ commit: Result<CommitResult, SDKError>
  ) -> SettledStep {
    switch (commit, step.failure) {
    case (.success(let done), _):
      self = next
      if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
      return SettledStep(effects: step.effects)
    case (.failure, .keepInMemory):
      self = next
      return SettledStep(effects: step.effects)
    case (.failure, .keepIdentityInMemory):
      let (pushes, deliveries) = (pushes, deliveries)
      self = next
      (self.pushes, self.deliveries) = (pushes, deliveries)
      return SettledStep(effects: step.effects)
    case (.failure(let error), .undo): return SettledStep(isTaken: false, error: error)
    case (.failure(let error), .end(let ended, let service, let rests, let wipe, let isKnownToVendor)):
      activities = next.activities
      // The vendor may have spent the credential, even if the step could not be stored.
      self[service]?.isInterrupted = next[service]?.isInterrupted ?? false
      var step = SettledStep(isTaken: false)
      if rests {
        if let wipe {
          self[service]?.machine.wipeFailed()
          self[service]?.failedWipe = (wipe, isKnownToVendor)
        } else {
          self[service]?.machine.rest()
        }
        self[service]?.running = nil
      }
      if wipe != nil { step.effects = ([.endDemand] + (self[service]?.dropConnection() ?? [])).map { (service, $0) } }
      var error = error.about(id)
      if isKnownToVendor, wipe != nil {
        error.message =
          "The vendor has ended the session, but that could not be stored, and \(id) is locked; make room on the disk "
          + "or repair it. The daemon then repeats the logout by itself."
      }
      step.effects += ended.map { (service, .end($0, .failed(error))) }
      return step
    }
  }

  /// Returns the effects that an action of the state machine causes.
  private mutating func effects(
    of action: FormerMachine.Action, on state: inout ServiceState, result: SignedIn?, _ context: StepContext
  ) -> [Effect] {
    switch action {
    case .exchange:
      guard let offered = state.running?.offered else { return [] }
      state.running?.basis = state.identity.kindState
      return [.signIn(offered)]
    case .endFormer:
      guard state.machine.standing != .none, let credential = state.identity.credential else {
        return [.follow(.formerEnded(epoch: state.machine.epoch))]
      }
      return [.endFormer(credential)]
    case .endSession:
      guard let offered = state.running?.offered else {
        return [.endSession(state.identity.credential, kindState: state.identity.kindState)]
      }
      let renewed = adapter.unverified(offered, of: state.identity)
      return [.endSession(offered.credential, kindState: renewed?.kindState ?? state.identity.kindState)]
    case .createAnonymous: return [.createAnonymousUser]
    case .ask(let attempt, let isRefusal, let error):
      if let provided = state.provided {
        state.provided = nil
        return [.offer(provided)]
      }
      return [.ask(formerQuestion(of: &state, attempt: attempt, isRefusal: isRefusal, error, context))]
    case .confirm(let error):
      var attempt = 1
      if case .confirming(let next) = state.machine.activity { attempt = next }
      // More refused credentials than that are a loop.
      guard
        state.recovery.mayConfirm(context.now, attempt: attempt, atMost: adapter.traits.policy.maxAttempts)
      else {
        return [.follow(.confirmed(epoch: state.machine.epoch, .declined(error)))]
      }
      let question = formerQuestion(
        of: &state, attempt: 1, isRefusal: true, error, name: .authenticationFailed, context)
      return [.confirm(question, error)]
    case .renewItself:
      state.running?.basis = state.identity.kindState
      return [.renewItself]
    case .verify:
      guard let offered = state.running?.offered else { return [] }
      state.running?.basis = state.identity.kindState
      return [.verify(offered, isProvided: state.running?.offersProvided == true)]
    case .probe:
      guard let credential = state.identity.credential else {
        return [.follow(.probed(epoch: state.machine.epoch, .accepted))]
      }
      state.recovery.probedAt = context.now
      return [.probe(credential)]
    case .undo: return result.map { undo($0) } ?? []
    case .finish(let outcome):
      guard let ended = state.running else { return [] }
      state.running = nil
      if case .failed(let error) = outcome { return [.end(ended.id, .failed(error.about(id)))] }
      return [.end(ended.id, outcome)]
    case .adopt, .adoptCredential, .wipe, .record, .announce, .supersede, .noteSpending, .fallBack: return []
    }
  }

  /// Returns a request to the owner for a credential.
  private func formerQuestion(
    of state: inout ServiceState, attempt: Int, isRefusal: Bool, _ error: SDKError?, name: BridgeQuestion.Name? = nil,
    _ context: StepContext
  ) -> BridgeQuestion {
    let beganAt = attempt == 1 ? context.now : state.recovery.beganAt ?? context.now
    state.recovery.beganAt = beganAt
    let user = state.identity.user
    var question = BridgeQuestion(
      name ?? adapter.traits.question(isRefusal: isRefusal), instance: id, kind: kind, service: state.service,
      attempt: attempt, user: user == .none ? nil : .init(id: user.id, externalId: user.externalId),
      error: error.map {
        .init(
          reason: $0.reason, code: $0.vendorCode?.text, description: $0.vendorDescription?.text,
          httpStatus: $0.httpStatus)
      }, deadline: beganAt + adapter.traits.common.deadline)
    if question.name == .shouldAuthenticate { question.personalDeadline = context.now + BridgeQuestion.personalTime }
    question.concealsExternalId = adapter.traits.concealsExternalId
    question.host = formerHost(of: state)
    return question
  }

  /// Returns the vendor's host with its port, for providers that look up a credential by host.
  private func formerHost(of state: ServiceState) -> String? {
    let endpoint = adapter.endpoint(for: state.identity)
    guard let url = endpoint.baseUrl ?? endpoint.instanceUrl, let scheme = url.firstRange(of: "://") else { return nil }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return authority.isEmpty ? nil : String(authority)
  }
}

extension ServiceState {
  /// Applies the parts of an adopted result that are not in the identity: a provided credential and a connection.
  fileprivate mutating func adoptFormer(_ result: SignedIn, _ context: StepContext) -> [Effect] {
    provided = result.supply
    isUntried = result.prepared != nil
    if result.prepared == nil { isVerified = result.isTold }
    guard let connection = result.connection else { return [] }
    let hadConnection = self.connection.isOpen
    self.connection.replace(for: .init(identity), context.now)
    return (hadConnection ? [.closeConnection] : []) + [.listen(to: connection, number: self.connection.number)]
  }

  /// Records the beginning or the end of a renewal in `recovery`.
  ///
  /// - Returns: the renewal that has ended; `nil` if none has.
  fileprivate mutating func rememberFormerRecovery(
    _ former: AuthenticationMachine, _ actions: [FormerMachine.Action],
    after input: AuthenticationMachine.Input, _ context: StepContext
  ) -> (trigger: EndedRenewal.Trigger, outcome: EndedRenewal.Outcome)? {
    if !former.isRecovering, machine.isRecovering {
      recovery.trigger = EndedRenewal.Trigger(input) ?? recovery.trigger ?? .call
    }
    guard former.isRecovering, !machine.isRecovering else { return nil }
    let ended = (recovery.trigger ?? .call, EndedRenewal.Outcome(former: actions))
    recovery.trigger = nil
    isUntried = false
    var failure: SDKError?
    for case .announce(.refreshFailed(let error)) in actions { failure = error }
    for case .finish(.failed(let error)) in actions { failure = error }
    recovery.wasLogin = machine.hasIdentity && !former.hasIdentity
    recovery.end(context.now, failure: failure, random: context.random)
    return ended
  }
}

extension AuthenticationMachine.Input {
  /// Whether the input is the result of an activity's work, not a request or an observation.
  fileprivate var wasResult: Bool {
    switch self {
    case .signIn, .signOut, .userNeeded, .renew, .expired, .foundExpired, .revived, .reported, .reportHeld,
      .reportFollowedUp, .refused, .merged, .mergedAway, .wipeFailed:
      false
    case .formerEnded, .formerEndFailed, .signInAccepted, .signInFailed, .signOutAccepted, .signOutFailed,
      .anonymousAccepted, .anonymousFailed, .renewedItself, .itselfRefused, .itselfFailed, .confirmed, .answered,
      .credentialAccepted, .credentialRefused, .credentialUnverifiable, .verificationFailed, .probed:
      true
    }
  }
}

extension ServiceState {
  /// Returns the effect that logs a notice.
  fileprivate func formerLog(of notice: AuthenticationMachine.Notice) -> Effect {
    let isRefreshed = if case .tokenRefreshed = notice { true } else { false }
    return .log(notice, tokenId: isRefreshed ? identity.credential?.tokenId : nil)
  }
}

extension EndedRenewal.Outcome {
  /// Creates the result that the actions of a renewal's last step imply.
  fileprivate init(former actions: [FormerMachine.Action]) {
    self = .superseded
    for action in actions {
      switch action {
      case .finish(.done): self = .renewed
      case .finish(.failed(let error)), .announce(.refreshFailed(let error)): self = .failed(error.reason)
      default: break
      }
    }
  }
}
