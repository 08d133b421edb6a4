import SDKProtocol
import StateStore

/// A step of one service in the making: what the state machine writes while it processes an input.
///
/// The functions of `StepWriter` change the identity and collect the effects, in the order in which the machine calls
/// them. `end` completes the change, and gives the step. `core` is then the state after it.
struct Transition: StepWriter {
  /// The state of the instance, with the changes so far. The service itself is in `state` until the end.
  var core: InstanceCore
  /// The service before the step.
  let former: ServiceState
  /// The service with the changes so far, but with its former machine.
  var state: ServiceState
  let input: AuthenticationMachine.Input
  /// The activity that the input begins, if it begins one.
  let begun: RunningActivity?
  /// The activity that the change belongs to: the one that the input begins, or the one in progress before.
  let activity: RunningActivity?
  /// The vendor's result, for inputs that carry one.
  let result: SignedIn?
  /// Whether the vendor has ended the wiped user's session.
  let isInformed: Bool
  let context: StepContext

  /// The change of the durable state. It is committed as a whole, if `isDurable`.
  var change: InstanceChange
  var isDurable = false
  /// Whether a new identity or credential is adopted.
  var adopts = false
  /// Whether the adopted credential is a renewed one.
  var renews = false
  /// Whether the former identity is destroyed.
  var wipes = false
  var isWipeTold = false
  /// Whether orphaned registrations belong to the user again, and are sent to the vendor again.
  var restoresPushes = false
  /// The cause of the wipe that the machine has decided on; `nil` without one.
  var wipeCause: LogoutCause?
  /// The last failure of a renewal that is announced.
  var refreshFailure: SDKError?
  /// The outcome of the activity, which has ended with it; `nil` if it continues.
  var outcome: AuthenticationMachine.Outcome?
  /// The activity that begins with the step's work, because none was in progress; `nil` if none does.
  var started: RunningActivity?
  /// The activity that ends without a result.
  var supersededActivity: ActivityID?
  /// The effects that the machine has written: notices for the journal, then the work or the end of the activity.
  var written: [Effect] = []

  var service: String? { former.service }
  var adapter: any SDKAdapter { core.adapter }

  // MARK: The end

  /// Completes the change, and returns the step with which the machine becomes `machine`.
  mutating func end(with machine: AuthenticationMachine) -> Step {
    state.machine = machine
    let raise = machine.epoch - min(machine.epoch, former.storedEpoch)
    let dropped = isDurable ? completeChange() : []
    var effects = endRenewal()
    if machine.epoch != former.machine.epoch { effects.append(.endDemand) }
    if former.machine.activity == .signingIn, adopts, activity?.sameUser != true, state.recovery.hasThrottle {
      // No request was made for the next user yet.
      state.recovery = state.recovery.ofNextUser(context.now)
      effects.append(.resetBreaker)
    }
    if let supersededActivity { effects.append(.supersede(supersededActivity, core.superseded)) }
    if !dropped.isEmpty { effects.append(.logDropped(dropped)) }
    if wipeCause != nil { endUser() }
    effects += adoptResult()
    if restoresPushes { effects.append(.restorePushes) }
    effects += written
    if outcome != nil { state.running = nil }
    effects += core.keepConnection(&state, context)
    if isDurable { state.storedEpoch += raise }
    core[service] = state
    var step = isDurable ? core.step(committing: change, raising: raise) : Step()
    step.failure = failure(raising: raise)
    step.awaited = begun?.id
    step.wiping = [former.running?.id, begun?.id].compactMap { $0 }
    step.add(effects, on: service)
    step.effects += core.startDeliveries(context)
    return step
  }

  /// Returns what a failed commit of the step means.
  private func failure(raising raise: UInt64) -> Step.Failure {
    // A renewed credential that can be obtained again may be lost. A wipe, a login or a single-use credential may not.
    if renews, !wipes, raise == 0, result?.isIrreplaceable != true, former.identity.isSpending == nil {
      return .keepIdentityInMemory
    }
    let own = Set([begun?.id, started?.id].compactMap { $0 })
    let all = own.union([former.running?.id].compactMap { $0 })
    // A wipe ends every activity, and the service is locked.
    if let wipeCause { return .end(all, of: service, rests: true, wipe: wipeCause, isKnownToVendor: isInformed) }
    // A result ends the activity that it belongs to.
    if input.isResult { return .end(all, of: service, rests: true) }
    // Any other input, such as a call, begins nothing, and leaves the activity in progress as it was.
    return .end(own, of: service, rests: false)
  }

  /// Records the beginning or the end of a renewal, and returns the effect that reports its end.
  private mutating func endRenewal() -> [Effect] {
    let wasRecovering = former.machine.isRecovering
    if !wasRecovering, state.machine.isRecovering {
      state.recovery.trigger = EndedRenewal.Trigger(input) ?? state.recovery.trigger ?? .call
    }
    guard wasRecovering, !state.machine.isRecovering else { return [] }
    let failure: SDKError? = if case .failed(let error)? = outcome { error } else { refreshFailure }
    let end: EndedRenewal.Outcome =
      outcome == .done ? .renewed : failure.map { .failed($0.reason) } ?? .superseded
    let renewal = EndedRenewal(kind: core.kind, trigger: state.recovery.trigger ?? .call, outcome: end)
    state.recovery.trigger = nil
    state.isUntried = false
    state.recovery.wasLogin = state.machine.hasIdentity && !former.machine.hasIdentity
    state.recovery.end(context.now, failure: failure, random: context.random)
    return [.renewalEnded(renewal)]
  }

  /// Clears the parts of a wiped user's state that are not in the identity.
  private mutating func endUser() {
    // A credential that was provided for the wiped user must not sign them in again.
    state.provided = nil
    if input.tellsThatVendorKnows { state.lastSignOut = state.machine.epoch }
    let identity = state.identity
    if case .formerEnded = input { state.running?.beginAnew(from: identity) }
  }

  /// Applies the parts of an adopted result that are not in the identity: a provided credential, a connection, and what
  /// it says about the clocks.
  private mutating func adoptResult() -> [Effect] {
    if case .probed(_, .accepted, _) = input { return state.compareClocks(isAccepted: true, context) }
    guard adopts else { return [] }
    if case .verifying = former.machine.activity { state.recovery.supplied(context.now) }
    let isPrepared = result?.prepared != nil
    var effects: [Effect] = []
    if let result {
      state.provided = result.supply
      state.isUntried = isPrepared
      if !isPrepared { state.isVerified = result.isTold }
      if let connection = result.connection {
        if state.connection.isOpen { effects.append(.closeConnection) }
        state.connection.replace(for: .init(state.identity), context.now)
        effects.append(.listen(to: connection, number: state.connection.number))
      }
    }
    return effects + state.compareClocks(isAccepted: result?.isTold == true && !isPrepared, context)
  }
}

extension AuthenticationMachine.Input {
  /// Whether the input is the result of an activity's work, not a request or an observation.
  fileprivate var isResult: Bool {
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

  /// Whether the input reports that the vendor has ended the user's session.
  var tellsThatVendorKnows: Bool {
    switch self {
    case .signOutAccepted, .formerEnded(_, informed: true): true
    default: false
    }
  }
}
