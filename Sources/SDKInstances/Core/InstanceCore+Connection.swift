import SDKProtocol
import StateStore

extension InstanceCore {
  /// Returns the effects that bring a service's connection to its required state: opens one that is required and due,
  /// and closes one that is not required, except while a logout is in progress at the vendor.
  func keepConnection(_ state: inout ServiceState, _ context: StepContext) -> [Effect] {
    guard wantsConnection(state) else { return state.machine.activity == .signingOut ? [] : state.dropConnection() }
    let subject = ConnectionKeeping.Subject(state.identity)
    var effects: [Effect] = []
    if state.connection.subject == subject {
      guard !state.connection.isOpen, !state.connection.isOpening,
        let time = state.connection.nextAttempt(context.now), time <= context.now
      else { return [] }
    } else {
      effects = state.dropConnection()
      state.connection.subject = subject
    }
    guard state.connection.refused != subject else { return effects }
    state.connection.begin(context.now)
    return effects + [.connect(number: state.connection.number)]
  }

  /// Whether a service's connection is to be open now.
  func wantsConnection(_ state: ServiceState) -> Bool {
    let machine = state.machine
    return !isDeleted && (machine.phase == .authenticated || machine.phase == .anonymous)
      && machine.standing == .usable && machine.activity != .signingOut && keepsConnection(state)
  }

  /// Opens or closes the connection of a service, as its present state requires.
  mutating func keepConnection(of service: String?, _ context: StepContext) -> Step {
    guard var state = self[service] else { return Step() }
    let effects = keepConnection(&state, context)
    self[service] = state
    return Step(effects, on: service)
  }

  /// Brings the retry of a lost connection forward, because an app opens a session.
  mutating func hastenConnection(of service: String?, _ context: StepContext) -> Step {
    guard !isDeleted, self[service]?.connection.retryAt != nil else { return Step() }
    self[service]?.connection.hasten(context.now)
    return keepConnection(of: service, context)
  }

  /// Records that a connection is open, unless another one has replaced it. If the user was logged out meanwhile, and
  /// the connection has brought them online again, that is undone.
  ///
  /// - Parameters:
  ///   - user: the identity for which the connection was opened, as a result with the connection.
  ///   - epoch: the epoch in which the attempt began.
  mutating func connected(as user: SignedIn, number: UInt64, epoch: UInt64, on service: String?) -> Step {
    guard let connection = user.connection else { return Step() }
    if !isDeleted, self[service]?.connection.number == number {
      self[service]?.connection.opened()
      return Step([.listen(to: connection, number: number)], on: service)
    }
    let isOnline = adapter.capabilities.connection?.bringsUserOnline == true
    guard isOnline, self[service]?.hasSignedOut(since: epoch) == true else { return abandoning(user, on: service) }
    return Step(undoing(user), on: service)
  }

  /// Applies a message that the vendor sent on a connection.
  mutating func heard(
    _ news: RealtimeNews, number: UInt64, on service: String?, _ context: StepContext
  ) -> Step {
    guard !isDeleted, let state = self[service], state.connection.number == number else { return Step() }
    switch news {
    case .connected:
      self[service]?.connection.confirmed(context.now)
      // A registration that outlives its user belongs to the connection.
      return Step(adapter.capabilities.push?.pushRules.outliveUser == true ? [.restorePushes] : [], on: service)
    case .settled: self[service]?.connection.failures = 0
    case .learned(let kindState, let credential):
      var record = state.identity
      record.kindState.merge(kindState) { _, new in new }
      if let credential { record.credential = credential }
      guard record != state.identity else { break }
      self[service]?.connection.subject = .init(record)
      return replaceIdentity(of: service, by: record)
    case .merged(let merge, let user, let credential, let kindState):
      let survivor = SignedIn(
        user: user, credential: credential ?? state.identity.credential, kindState: kindState, merge: merge)
      return apply(.merged, on: service, with: survivor, context)
    case .mergedAway(let merge):
      let nobody = SignedIn(user: .none, credential: nil, merge: merge)
      return apply(.mergedAway, on: service, with: nobody, context)
    }
    return Step()
  }

  /// Records that a connection, or the attempt to open it, has ended, and plans the next attempt.
  ///
  /// - Returns: whether it was the present connection. The caller then calls `connectionEnded`.
  mutating func noteConnectionEnd(
    _ end: RealtimeEnd, number: UInt64, on service: String?, _ context: StepContext
  ) -> Bool {
    guard !isDeleted, var state = self[service], state.connection.number == number else { return false }
    if case .lost(let error) = end {
      if state.connection.isStable(context.now) {
        state.connection.failures = 0
        state.outageToldAt = nil
      }
      state.connection.ended()
      state.connection.planRetry(after: error, context.now, random: context.random)
    } else {
      state.connection.ended()
    }
    if case .refused = end { state.connection.refused = state.connection.subject }
    self[service] = state
    return true
  }

  /// Handles the end of the present connection: renews or probes a refused credential, and announces repeated losses.
  ///
  /// Until the vendor accepts a connection again, only the first refusal of a credential has this effect. A vendor may
  /// refuse every fresh credential here but accept it elsewhere, and requests for new ones would never end.
  mutating func connectionEnded(_ end: RealtimeEnd, on service: String?, _ context: StepContext) -> Step {
    var step = Step()
    guard let state = self[service] else { return step }
    switch end {
    case .ended: break
    case .refused(let error):
      guard !state.connection.isRefusalFollowedUp else {
        step.add(.logConnection(error, isRefused: true), on: service)
        break
      }
      self[service]?.connection.isRefusalFollowedUp = true
      step = credentialRefused(error, on: service, context)
    case .lost(let error):
      // A single lost connection is not reported. A message that could not be read is, because its content is lost.
      if state.connection.failures > 1 || error.reason == .badResponse {
        step = announce(.networkError(error), on: service, context)
      }
      step.add(.logConnection(error, isRefused: false), on: service)
    }
    return step
  }
}

extension ServiceState {
  /// Closes the connection, if there is one, and cancels its retry.
  mutating func dropConnection() -> [Effect] {
    let isOpen = connection.isOpen
    connection.drop()
    return isOpen ? [.closeConnection] : []
  }
}
