import SDKProtocol
import StateStore

/// The requirements of a caller on a token: the params of its call, but for whose token it is and how long to wait.
///
/// It travels as a whole from the handler to the core. A param that decides which token is returned is a member here and
/// a condition of `isMet`. A token that fails such a condition may still be returned: `InstanceCore.wanted` then marks it
/// as `short` or `stale`, which must be true for that param too.
public struct TokenDemand: Sendable, Hashable {
  /// The minimum time until the token expires, in seconds.
  var minTTL = 0.0
  /// Whether the token comes with the headers and cookies of a request.
  var http = false

  /// Any token that has not expired.
  public static let any = TokenDemand()

  /// Whether a token meets the demand. One that has expired never does.
  ///
  /// - Parameter ttl: the time until it expires, in seconds; `nil` if unknown.
  func isMet(by ttl: Double?) -> Bool {
    guard let ttl else { return true }
    return ttl > 0 && ttl >= minTTL
  }
}

extension TokenDemand {
  init(_ params: TokenGet.Params) { self.init(minTTL: params.minTTL?.value ?? 0, http: params.http ?? false) }

  init(_ params: SessionOpen.Params) { self.init(minTTL: params.minTTL?.value ?? 0) }
}

extension InstanceCore {
  /// Returns a token that meets the demand, or begins the renewal that the caller must wait for.
  ///
  /// - Parameters:
  ///   - isRenewed: whether a renewal has ended since the call began.
  /// - Returns: the token, or a step with the activity that the caller must wait for.
  /// - Throws: the reason why there is no token, and `providerBackoff` for a reported token within `minInterval` of the
  ///   last probe or renewal.
  mutating func wanted(
    _ demand: TokenDemand, isRenewed: Bool, on service: String?, _ context: StepContext
  ) throws(SDKError) -> (step: Step, value: Token?) {
    let state = try existing(service)
    let machine = state.machine
    let interval = adapter.traits.common.planner.minInterval
    var means = means(state, context)
    // The owner may still have another credential. An SDK that renews by itself can only ask the vendor again.
    let hold = means.bridge ? nil : state.recovery.hold(context.now)
    if var living = livingToken(of: state, http: demand.http, context) {
      living.fromCache = !isRenewed
      let ttl = living.expiresAt.map { $0 - context.vendorNow }
      if demand.isMet(by: ttl) || machine.phase == .anonymous && means.isNone { return (Step(), living) }
      // While the user changes, nothing is renewed, and the present token stays in use.
      let mustWait = machine.isChangingUser && !means.isNone
      if isRenewed || hold != nil || mustWait || state.recovery.isRecent(context.now, within: interval) {
        if state.recovery.failure == nil { living.short = true } else { living.stale = true }
        return (Step(), living)
      }
      if means.isNone {
        living.stale = true
        return (Step(), living)
      }
    }
    if let activity = state.running, machine.isRecovering || machine.activity == .probing {
      return (Step(awaited: activity.id), nil)
    }
    if machine.standing == .reported, machine.activity == .idle {
      try checkReport(of: state, context)
      if let hold { throw hold.about(id) }
      return (try begin(.reportFollowedUp(means: means), on: service, context), nil)
    }
    // A missing owner is announced once, like any other failure before the fallback.
    if means.isNone, adapter.traits.policy.onFailure == .fallBack, state.isBeforeFallback,
      adapter.mayAsk(for: state.identity)
    {
      means = .bridge
    }
    guard machine.activity == .idle, machine.phase != .locked, !means.isNone, !isDeniedUser(state, context) else {
      throw noToken(of: state)
    }
    if let hold { throw hold.about(id) }
    self[service]?.recovery.trigger = .call
    return (try begin(.renew(means), on: service, context), nil)
  }

  /// Whether the owner has denied a first user a moment ago, so that no other call asks again yet.
  private func isDeniedUser(_ state: ServiceState, _ context: StepContext) -> Bool {
    guard state.machine.phase == .noUser || state.machine.phase == .loggedOut else { return false }
    return state.recovery.failure?.reason == .providerDenied
      && state.recovery.isRecent(context.now, within: adapter.traits.common.planner.minInterval)
  }

  /// Checks whether a reported token may be followed up now.
  ///
  /// - Throws: `providerBackoff` if the last probe or renewal was less than `minInterval` ago.
  private func checkReport(of state: ServiceState, _ context: StepContext) throws(SDKError) {
    let interval = adapter.traits.common.planner.minInterval
    guard state.recovery.holdsBack(context.now, within: interval) else { return }
    let seconds = Seconds.text(of: .seconds(interval))
    throw SDKError(
      .provider, .providerBackoff,
      """
      The token was reported as refused less than \(seconds) after it was renewed or checked (refresh.min_interval); \
      try again in \(seconds).
      """, instance: id, retryAfter: interval)
  }

  /// Begins a renewal that a caller demands. Waits for an activity in progress.
  ///
  /// - Parameter resetting: whether breaker and `minInterval` are ignored, and a lock by the vendor may end.
  /// - Returns: a step with the activity to wait for; none if the last renewal was less than `minInterval` ago and
  ///   succeeded.
  /// - Throws: the reason why there is nothing to renew; within `minInterval`, the failure of the last renewal, and
  ///   `providerBackoff` for a reported token.
  mutating func refreshDemanded(
    resetting: Bool, on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    let machine = state.machine
    let means = means(state, context)
    let unlocks = resetting && machine.isLockedByVendor
    guard machine.hasIdentity || unlocks || !means.isNone, machine.phase != .locked || unlocks else {
      throw noToken(of: state)
    }
    if means.isNone {
      throw SDKError(
        .provider, .noProvider,
        "No token provider is configured for \(id); set provider.command or provider.unit, or log in again with a new token.",
        instance: id)
    }
    if let activity = state.running { return Step(awaited: activity.id) }
    if !resetting, state.recovery.isRecent(context.now, within: adapter.traits.common.planner.minInterval) {
      if let failure = state.recovery.failure { throw failure.about(id) }
      if livingToken(of: state, context) != nil { return Step() }
    }
    if !resetting, machine.standing == .reported { try checkReport(of: state, context) }
    self[service]?.recovery.trigger = .refresh
    var step = try begin(.renew(means), on: service, context)
    if resetting { step.effects.insert((service, .resetBreaker), at: 0) }
    return step
  }

  /// Applies an input that begins an activity, and returns the step with the activity to wait for.
  private mutating func begin(
    _ input: Input, on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    var step = apply(input, on: service, context)
    let state = try existing(service)
    guard let activity = state.running else { throw noToken(of: state) }
    step.awaited = activity.id
    return step
  }

  /// Adds the note that the kind defines for the vendor code of an app's report, if any, to the kind's state.
  mutating func reportNote(of report: SDKError, on service: String?) -> Step {
    guard let code = report.vendorCode?.text, let note = adapter.traits.reportNotes[code],
      var record = self[service]?.identity
    else { return Step() }
    record.kindState.merge(note) { _, new in new }
    return replaceIdentity(of: service, by: record)
  }

  /// Handles an app's report that the vendor refused the token. It begins one probe or renewal; if the last one was
  /// less than `minInterval` ago, the next call that needs the token does.
  mutating func reported(_ report: SDKError, on service: String?, _ context: StepContext) -> Step {
    guard let state = self[service] else { return Step() }
    let isHeldBack = state.recovery.holdsBack(context.now, within: adapter.traits.common.planner.minInterval)
    let input: Input = isHeldBack ? .reportHeld(report) : .reported(report, means: means(state, context))
    return apply(input, on: service, context)
  }

  /// Withholds a reported token until the next call that needs it begins a probe or renewal. Changes memory only.
  mutating func holdBack(
    _ tokenId: TokenID, _ report: SDKError, on service: String?, _ context: StepContext
  ) -> Step {
    guard self[service]?.identity.credential?.tokenId == tokenId else { return Step() }
    return apply(.reportHeld(report), on: service, context)
  }

  /// Returns the credential as a token; `nil` if it may not be issued or has expired.
  func livingToken(
    of state: ServiceState, stale: Bool = false, http: Bool = false, _ context: StepContext
  ) -> Token? {
    guard state.machine.mayHandOut, let credential = state.identity.credential, !state.hasExpired(context) else {
      return nil
    }
    var token = Token(
      token: credential.token, tokenId: credential.tokenId, tokenType: credential.type,
      expiresAt: credential.expiresAt,
      ttl: credential.expiresAt.map { (($0 - context.vendorNow) * 1000).rounded(.down) / 1000 },
      fromCache: true, stale: stale)
    if http { token.http = adapter.http(for: credential, of: state.identity) }
    return token
  }

  /// Returns the error that explains why there is no token.
  func noToken(of state: ServiceState, as phase: AuthenticationMachine.Phase? = nil) -> SDKError {
    switch phase ?? state.machine.phase {
    case .noUser, .loggedOut:
      SDKError(
        .state, adapter.traits.missingUser ?? .notAuthenticated, "Nobody is signed in on \(id); log in first.",
        instance: id)
    case .anonymous:
      SDKError(.state, .notAuthenticated, "The user of \(id) is anonymous; log in first.", instance: id)
    case .locked:
      SDKError(.state, .locked, "\(id) is locked and hands out nothing; log in again to unlock it.", instance: id)
    case .authenticated, .reauthNeeded:
      SDKError(
        .state, .reauthNeeded,
        "The credential of \(id) has ended and there is no new one; log in again or configure a token provider.",
        instance: id)
    }
  }

  /// Throws the error of a missing instance if this one is deleted.
  func checkAlive() throws(SDKError) {
    if isDeleted { throw SDKError.instanceNotFound(id) }
  }

  /// Returns the state of a service that the instance has.
  func existing(_ service: String?) throws(SDKError) -> ServiceState {
    guard !isDeleted, let state = self[service] else { throw SDKError.instanceNotFound(id) }
    return state
  }
}
