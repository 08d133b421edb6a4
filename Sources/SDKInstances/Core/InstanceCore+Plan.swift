import DelegateBridge
import SDKProtocol

/// The next time at which a service has something to do, apart from its connection and deliveries.
enum NextDeadline {
  case none
  /// The expiry of the credential.
  case end(Timestamp)
  /// A renewal, at the time that the renewal schedule assigns.
  case renewal(RenewalRequest)
}

extension InstanceCore {
  /// Returns the next planned renewal of a service, or the expiry of its credential if no renewal is planned.
  func nextDeadline(of state: ServiceState, _ context: StepContext) -> NextDeadline {
    guard !isDeleted, state.machine.activity == .idle else { return .none }
    let means = means(state, context)
    let end = state.identity.credential?.expiresAt.map(context.ours)
    if let request = nextRenewal(of: state, endingAt: end, means, context) { return .renewal(request) }
    guard let end, state.isUsable else { return .none }
    if means.isNone { return .end(end) }
    // Without the delegate that is expected back there is no strategy, and nothing else shows when it stays away.
    guard let graceEnd = context.delegateGraceEnd, provider == nil, state.provided == nil, !means.itself else {
      return .none
    }
    return .end(max(end, graceEnd))
  }

  /// Returns the request for the next renewal before the expiry; `nil` if none is due.
  private func nextRenewal(
    of state: ServiceState, endingAt end: Timestamp?, _ means: RenewalMeans, _ context: StepContext
  ) -> RenewalRequest? {
    guard let credential = state.identity.credential, adapter.traits.common.planner.mode == .eager, !means.isNone
    else { return nil }
    switch state.machine.phase {
    case .authenticated:
      guard let end else { return nil }
      return state.machine.standing == .usable
        ? renewal(of: credential, endingAt: end, state, context) : retry(state, end: nil, context)
    // A provider outage ends by itself. A renewal then signs the user in again before the next call.
    case .reauthNeeded: return retry(state, end: nil, context)
    default: return nil
    }
  }

  private func renewal(
    of credential: Credential, endingAt end: Timestamp, _ state: ServiceState, _ context: StepContext
  ) -> RenewalRequest {
    let planner = adapter.traits.common.planner
    let random = state.recovery.random
    let obtained = context.ours(credential.obtainedAt)
    let planned =
      planner.renewal(
        obtained: obtained, expires: end, lead: state.recovery.answerTime.seconds ?? 0, random: random)
      ?? end
    if planned <= context.now, state.recovery.failure != nil { return retry(state, end: end, context) }
    return RenewalRequest(
      owner: definition.owner, latest: planned,
      earliest: planner.earliest(obtained: obtained, expires: end), end: end, random: random)
  }

  private func retry(_ state: ServiceState, end: Timestamp?, _ context: StepContext) -> RenewalRequest {
    let recovery = state.recovery
    var time = adapter.traits.common.planner.retry(
      after: recovery.endedAt ?? recovery.since ?? context.now, failures: recovery.failures,
      breaker: context.nextProviderAttempt, end: end, random: recovery.random)
    if let held = recovery.heldUntil { time = max(time, held) }
    return RenewalRequest(owner: definition.owner, latest: time, earliest: time, end: end, random: recovery.random)
  }

  /// Does what is due at the deadline of a service: handles the expiry of the credential, or begins a planned renewal.
  mutating func deadlineReached(on service: String?, _ context: StepContext) -> Step {
    guard !isDeleted, let state = self[service], state.machine.activity == .idle else { return Step() }
    let start = state.nextStart(of: nextDeadline(of: state, context), context)
    let means = means(state, context)
    if state.machine.standing == .usable, state.isDisputed(context) { return decide(on: service, means, context) }
    if state.machine.standing == .usable, state.hasExpired(context) {
      if let start, start > context.now, state.waitsPastTheEnd(context) { return Step() }
      return apply(.expired(means: means), on: service, context)
    }
    guard let start, start <= context.now, !means.isNone else { return Step() }
    self[service]?.recovery.trigger = .plan
    return apply(.renew(means), on: service, context)
  }

  /// Compares the credential's expiry with the clock. Handles an expiry that passed before the timer fired, and one
  /// that is in the future again because the clock was set back.
  mutating func noticeExpiry(on service: String?, _ context: StepContext) -> Step {
    guard let state = self[service], state.identity.credential != nil else { return Step() }
    if state.machine.waitsForTheClock {
      guard !state.hasExpired(context) else { return Step() }
      // The next session probes the credential at the vendor.
      self[service]?.isVerified = false
      return apply(.revived, on: service, context)
    }
    guard state.machine.standing == .usable else { return Step() }
    if state.isDisputed(context), state.machine.activity == .idle {
      return decide(on: service, means(state, context), context)
    }
    guard state.hasExpired(context) else { return Step() }
    return apply(.expired(means: means(state, context)), on: service, context)
  }

  /// Renews or probes a credential about whose expiry the two clocks disagree.
  private mutating func decide(on service: String?, _ means: RenewalMeans, _ context: StepContext) -> Step {
    apply(.reported(AuthenticationMachine.expiredError, means: means), on: service, context)
  }

  /// Returns whether a credential had expired when the daemon started and can't be renewed.
  func hasEnded(on service: String?, _ context: StepContext) -> Bool {
    guard let state = self[service], state.machine.phase == .authenticated, state.machine.standing == .expired else {
      return false
    }
    let means = means(state, context)
    return means.isNone || adapter.traits.policy.onNoMeans == .fallBack && !means.bridge
  }

  /// Handles a credential that had expired when the daemon started and that can't be renewed.
  mutating func resumeExpired(on service: String?, _ context: StepContext) -> Step {
    guard let state = self[service], hasEnded(on: service, context) else { return Step() }
    return apply(.foundExpired(means: means(state, context)), on: service, context)
  }

  /// Continues a renewal that a restart has interrupted: one attempt with the old token shows whether it was spent.
  mutating func resumeInterrupted(on service: String?, _ context: StepContext) -> Step {
    guard let state = self[service], state.isInterrupted, state.machine.activity == .idle else { return Step() }
    self[service]?.recovery.trigger = .restart
    return apply(.renew(means(state, context)), on: service, context)
  }
}

extension ServiceState {
  /// Whether the user is signed in with a credential that has not expired and was neither reported nor refused.
  var isUsable: Bool { machine.phase == .authenticated && machine.standing == .usable }

  /// Returns the time of a deadline. A renewal begins at its reserved time, but not after the expiry of the credential.
  func nextStart(of deadline: NextDeadline, _ context: StepContext) -> Timestamp? {
    switch deadline {
    case .none: return nil
    case .end(let end): return end
    case .renewal:
      guard let reservation else { return nil }
      let end = identity.credential?.expiresAt.map(context.ours)
      guard isUsable, let end, !waitsPastTheEnd(context) else { return reservation.start }
      return min(reservation.start, end)
    }
  }

  /// Whether the renewal of an expired credential waits for a reservation after the expiry, such as after the machine
  /// slept. Many credentials may have expired together, so their renewals are spread out. A call that needs the
  /// credential renews it at once.
  func waitsPastTheEnd(_ context: StepContext) -> Bool {
    reservation?.isCatchingUp == true && recovery.failure == nil && hasExpired(context)
  }
}
