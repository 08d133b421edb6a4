import DelegateBridge
import SDKProtocol

/// The work that a step begins, and the end of its activity.
extension Transition {
  mutating func exchange() {
    guard let offered = state.running?.offered else { return }
    begin(.signIn(offered), changesKindState: true)
  }

  mutating func endFormer(mayHaveCredential: Bool, epoch: UInt64) {
    guard mayHaveCredential, let credential = state.identity.credential else {
      return begin(.feedBack(.formerEnded(epoch: epoch)))
    }
    begin(.endFormer(credential))
  }

  mutating func endSession() {
    let kindState = state.identity.kindState
    guard let offered = state.running?.offered else {
      return begin(.endSession(state.identity.credential, kindState: kindState))
    }
    let renewed = adapter.unverified(offered, of: state.identity)
    begin(.endSession(offered.credential, kindState: renewed?.kindState ?? kindState))
  }

  mutating func createAnonymous() { begin(.createAnonymousUser) }

  mutating func ask(attempt: Int, isRefusal: Bool, _ error: SDKError?) {
    if let provided = state.provided {
      state.provided = nil
      return begin(.offer(provided))
    }
    begin(.ask(question(adapter.traits.question(isRefusal: isRefusal), attempt: attempt, error)))
  }

  mutating func renewItself() {
    if adapter.capabilities.renewal?.spends(former.identity) == true {
      isDurable = true
      state.identity.isSpending = true
    }
    begin(.renewItself, changesKindState: true)
  }

  mutating func confirm(_ error: SDKError, attempt: Int, epoch: UInt64) {
    // More refused credentials than that are a loop.
    let limit = adapter.traits.policy.maxAttempts
    guard state.recovery.mayConfirm(context.now, attempt: attempt, atMost: limit) else {
      return begin(.feedBack(.confirmed(epoch: epoch, .declined(error))))
    }
    begin(.confirm(question(.authenticationFailed, attempt: 1, error), error))
  }

  mutating func verify() {
    guard let running = state.running, let offered = running.offered else { return }
    begin(.verify(offered, isProvided: running.offersProvided), changesKindState: true)
  }

  mutating func probe(epoch: UInt64) {
    guard let credential = state.identity.credential else {
      return begin(.feedBack(.probed(epoch: epoch, .accepted)))
    }
    state.recovery.probedAt = context.now
    begin(.probe(credential))
  }

  mutating func undoAtVendor() {
    if let result { written += core.undoing(result) }
  }

  mutating func finish(_ outcome: AuthenticationMachine.Outcome) {
    self.outcome = outcome
    var end = outcome
    switch outcome {
    case .done: break
    case .signedOut: tellOfSignOut()
    case .failed(let error):
      if error.origin != .unreachable || error.reason == .rateLimited, state.identity.isSpending != nil {
        isDurable = true
        state.identity.isSpending = nil
      }
      end = .failed(error.about(core.id))
    }
    if let ended = state.running { written.append(.end(ended.id, end)) }
  }

  /// Begins work of the activity, which is a new one if none is in progress.
  ///
  /// - Parameter changesKindState: whether the work's result replaces the kind's state. Changes of the present one that
  ///   are made meanwhile are then kept.
  private mutating func begin(_ work: Effect, changesKindState: Bool = false) {
    if state.running == nil {
      started = RunningActivity(core.newActivity())
      state.running = started
    }
    let kindState = state.identity.kindState
    if changesKindState { state.running?.basis = kindState }
    written.append(work)
  }

  // MARK: Questions

  /// Returns a request to the owner.
  private mutating func question(_ name: BridgeQuestion.Name, attempt: Int, _ error: SDKError?) -> BridgeQuestion {
    let beganAt = attempt == 1 ? context.now : state.recovery.beganAt ?? context.now
    state.recovery.beganAt = beganAt
    let user = state.identity.user
    var question = BridgeQuestion(
      name, instance: core.id, kind: core.kind, service: service,
      attempt: attempt, user: user == .none ? nil : .init(id: user.id, externalId: user.externalId),
      error: error.map {
        .init(
          reason: $0.reason, code: $0.vendorCode?.text, description: $0.vendorDescription?.text,
          httpStatus: $0.httpStatus)
      }, deadline: beganAt + adapter.traits.common.deadline)
    if question.name == .shouldAuthenticate { question.personalDeadline = context.now + BridgeQuestion.personalTime }
    question.concealsExternalId = adapter.traits.concealsExternalId
    question.host = vendorHost
    return question
  }

  /// The vendor's host with its port, for providers that look up a credential by host.
  private var vendorHost: String? {
    let endpoint = adapter.endpoint(for: state.identity)
    guard let url = endpoint.baseUrl ?? endpoint.instanceUrl, let scheme = url.firstRange(of: "://") else { return nil }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return authority.isEmpty ? nil : String(authority)
  }
}
