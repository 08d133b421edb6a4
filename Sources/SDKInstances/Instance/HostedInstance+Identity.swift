import Concurrency
public import DelegateBridge
import JSONRPC
public import SDKProtocol
public import StateStore

/// The outcome of a login.
public struct SignInOutcome: Sendable {
  /// The user after the login, as apps see them.
  public var user: User
  /// Whether the login changed anything.
  public var changed: Bool
  /// The counts of what the login wiped; `nil` without a wipe.
  public var wiped: CommitResult.Wiped?
}

extension HostedInstance {
  /// A login that has begun. Its outcome is `nil` if there was nothing to do.
  public struct PendingSignIn: Sendable {
    let service: String?
    let outcome: PendingOutcome?
  }

  /// Logs a user in with a credential that the caller provides. Makes no request to the bridge.
  ///
  /// - Parameters:
  ///   - operation: the operation id in the login's events, for callers that don't wait.
  ///   - epoch: the lane's epoch when the caller began; if it has changed, the login throws `superseded`. `nil` accepts
  ///     any.
  ///   - accepted: called once the login has begun. From then on a later login supersedes it.
  ///   - offering: with the kind's own adapter, checks the caller's credential and returns it, given whether the present one is usable; `nil` when
  ///     there is nothing to do.
  /// - Throws: the SDK's reasons for an invalid credential; the vendor's refusal; `superseded`; `storeUnavailable`;
  ///   `timeout` when a logout in progress has not ended.
  public func signIn<Adapter: SDKAdapter>(
    service: String? = nil, operation: String? = nil, since epoch: UInt64? = nil, accepted: @Sendable () -> Void,
    offering: @Sendable (Adapter, IdentityRecord, _ isUsable: Bool) throws -> CheckedCredential?
  ) async throws -> SignInOutcome {
    let pending = try await beginSignIn(service: service, operation: operation, since: epoch, offering: offering)
    accepted()
    return try await finish(pending)
  }

  /// The seconds to wait beyond the instance's `timeout`, so that a logout that times out can store its failure.
  private static let grace = 2.0

  /// Locks `changing` for a change of the identity, after the end of a logout in progress. The caller unlocks it.
  ///
  /// - Throws: `timeout` when the logout has not ended within the instance's `timeout`; nothing has changed then.
  private func beginChange(afterLogoutOn service: String?) async throws {
    try await beginChange { (try? resolved(service)).flatMap(logoutInProgress) }
  }

  /// Locks `changing` once `barrier` returns no logout to wait for. The caller unlocks it.
  ///
  /// - Parameter barrier: returns the logout to wait for, or `nil`. It is called again after each wait.
  /// - Throws: `timeout` when the logout has not ended within the instance's `timeout`; nothing has changed then.
  func beginChange(after barrier: () -> PendingOutcome?) async throws {
    let end = ContinuousClock.now + .seconds(core.adapter.traits.common.timeout + Self.grace)
    await changing.lock()
    while let logout = barrier() {
      changing.unlock()
      let left = max(0, (end - ContinuousClock.now) / .seconds(1))
      do {
        _ = try await patience(left, lacking: "The logout that came before has not ended") { try await logout.value() }
      } catch let error as SDKError where error.reason == .superseded {}
      await changing.lock()
    }
  }

  /// Returns the outcome of the logout in progress; `nil` without one.
  func logoutInProgress(_ state: ServiceState) -> PendingOutcome? {
    guard state.machine.isSigningOut, let activity = state.running else { return nil }
    return outcome(of: activity.id)
  }

  /// Begins a login and does not wait for the vendor.
  ///
  /// - Parameter settling: changes the identity when `offering` returns `nil`. Such a login still emits its event, and
  ///   drops the user's pending logouts.
  public func beginSignIn<Adapter: SDKAdapter>(
    service: String? = nil, operation: String? = nil, since epoch: UInt64? = nil,
    settling: (@Sendable (inout IdentityRecord) -> Void)? = nil,
    offering: @Sendable (Adapter, IdentityRecord, _ isUsable: Bool) throws -> CheckedCredential?
  ) async throws -> PendingSignIn {
    try await beginChange(afterLogoutOn: service)
    defer { changing.unlock() }
    let state = try resolved(service)
    let own = try own(Adapter.self)
    if let epoch, epoch != state.machine.epoch {
      throw SDKError(.state, .superseded, "A newer login or logout took this one's place.", instance: id)
    }
    let name = state.service
    let checked: CheckedCredential?
    do {
      checked = try offering(own, state.identity, core.isUsable(state, context(of: name)))
    } catch let error as SDKError {
      // The vendor would refuse this credential, so the failure is announced without a request.
      if error.origin == .local || error.origin == .vendor {
        await follow(name) { $0.announce(.authenticationFailed(error), on: name, operation: operation, $1) }
      }
      throw error.about(id)
    }
    let outcome: PendingOutcome? = try await perform(name) { core, context in
      if let checked {
        let (step, activity) = try core.signIn(checked, operation: operation, on: name, context)
        return (step, self.outcome(of: activity))
      }
      return (try settling.map { try core.settle($0, operation: operation, on: name, context) } ?? Step(), nil)
    }
    return PendingSignIn(service: name, outcome: outcome)
  }

  /// Waits for a login that has begun, and returns its outcome.
  ///
  /// - Parameter timeout: the seconds to wait, after which the login continues without the caller. `nil` waits for its
  ///   end.
  public func finish(_ pending: PendingSignIn, timeout: Double? = nil) async throws -> SignInOutcome {
    if let running = pending.outcome, let timeout {
      let outcome = try await patience(timeout, lacking: "The login has not ended") { try await running.value() }
      if case .failed(let error) = outcome { throw error.about(id) }
    } else if let running = pending.outcome {
      try await finished(running)
    }
    let user = core[pending.service]?.visibleUser ?? .none
    return SignInOutcome(user: user, changed: pending.outcome != nil, wiped: pending.outcome?.wiped.value)
  }

  /// Logs the user out; valid in every state.
  ///
  /// - Parameters:
  ///   - cause: the cause in the event of a local logout.
  ///   - events: the kind's own events to emit with it.
  /// - Returns: whether the vendor has been informed.
  /// - Throws: the failure, such as a vendor that can't be reached; the identity is kept then.
  public func signOut(
    service: String? = nil, localOnly: Bool, as cause: LogoutCause = .explicit, telling events: [EventType] = [],
    accepted: @Sendable () -> Void
  ) async throws -> Bool {
    let pending = try await beginSignOut(service: service, localOnly: localOnly, as: cause, telling: events)
    accepted()
    guard case .signedOut(let informed) = try await finished(pending) else { return false }
    return informed
  }

  /// Logs out on every service.
  public func signOutEverywhere() async throws {
    for service in core.services.map(\.service) {
      _ = try await signOut(service: service, localOnly: false, accepted: {})
    }
  }

  /// Begins a logout and does not wait for the vendor.
  func beginSignOut(
    service: String?, localOnly: Bool, as cause: LogoutCause = .explicit, operation: String? = nil,
    telling events: [EventType] = [], requiringUser: Reason? = nil
  ) async throws -> PendingOutcome {
    try await beginChange(afterLogoutOn: service)
    defer { changing.unlock() }
    let name = try resolved(service).service
    return try await perform(name) { core, context in
      let (step, activity) = try core.signOut(
        localOnly: localOnly, as: cause, operation: operation, telling: events, requiringUser: requiringUser, on: name,
        context)
      return (step, outcome(of: activity))
    }
  }

  /// Begins a logout and returns a function that waits for it. The outcome is also emitted as an event with
  /// `operation`.
  ///
  /// - Parameter requiringUser: the reason of the error that is thrown when no user is signed in.
  /// - Returns: a function that waits `timeout` seconds, or without limit, for the outcome, and throws its failure.
  public func signOut(
    operation: String, requiringUser: Reason, accepted: @Sendable () -> Void
  ) async throws -> @Sendable (_ timeout: Double?) async throws -> Void {
    let pending = try await beginSignOut(
      service: nil, localOnly: false, operation: operation, requiringUser: requiringUser)
    // A logout that could not be stored has not begun. It emits no event, so the caller gets the error.
    if case .success(.failed(let error))? = pending.outcome.result, error.origin == .store { throw error }
    accepted()
    return { timeout in
      let outcome = try await self.patience(timeout, lacking: "The logout has not ended") {
        try await pending.value()
      }
      if case .failed(let error) = outcome { throw error.about(self.id) }
    }
  }

  /// Waits for an activity that has begun, also when the caller is cancelled, and returns its outcome. Throws its
  /// failure.
  @discardableResult
  func finished(_ pending: PendingOutcome) async throws -> AuthenticationMachine.Outcome {
    let outcome = try await pending.outcome.valueIgnoringCancellation()
    if case .failed(let error) = outcome { throw error.about(id) }
    return outcome
  }

  /// Requests the data for a login from the owner. Changes no state.
  ///
  /// - Returns: the answer, and the epoch of the request, for the login that follows.
  public func askOwner(
    service: String? = nil, _ question: BridgeQuestion.Name
  ) async throws -> (answer: BridgeAnswer, epoch: UInt64) {
    var state = try resolved(service)
    let name = state.service
    // Only one request at a time: a renewal in progress ends first.
    while let activity = state.running, state.machine.isRecovering {
      do { _ = try await outcome(of: activity.id).value() } catch is SDKError {}
      state = try resolved(name)
    }
    let epoch = state.machine.epoch
    let question = BridgeQuestion(
      question, instance: id, kind: kind, service: name,
      deadline: environment.clock.now() + core.adapter.traits.common.deadline)
    let (request, promise, superseded) = (request(question, on: name), Promise<BridgeAnswer>(), core.superseded)
    environment.operations.start {
      promise.resolve(await request().map { $0.mapError { $0 as any Error } } ?? .failure(superseded))
    }
    do {
      let answer = try await promise.value()
      guard epoch == core[name]?.machine.epoch else { throw superseded }
      return (answer, epoch)
    } catch let error as SDKError {
      throw epoch == core[name]?.machine.epoch ? error.about(id) : superseded
    }
  }

  /// Counts the last run of the provider as failed, because the answer of `askOwner` was invalid.
  public func rejectAnswer(service: String? = nil) throws {
    environment.bridge.reject(bridgeKey(try resolved(service).service))
  }

  /// Returns the identity of a service, for reads by the kind itself.
  public func identity(of service: String? = nil) throws -> IdentityRecord { try resolved(service).identity }

  /// Returns the adapter and the identity of a service, for work of the kind itself.
  public func state<Adapter: SDKAdapter>(
    of service: String? = nil, as type: Adapter.Type
  ) throws -> (adapter: Adapter, identity: IdentityRecord) {
    (try own(type), try resolved(service).identity)
  }

  /// Returns the adapter as the type that the kind's own code knows.
  ///
  /// - Throws: `wrongKind` for the adapter of another kind.
  private func own<Adapter: SDKAdapter>(_ type: Adapter.Type) throws(SDKError) -> Adapter {
    if let adapter = core.adapter as? Adapter { return adapter }
    throw SDKError(.state, .wrongKind, "\(id) is of kind \(kind), which does not have this method.", instance: id)
  }

  /// Changes the kind's own state; durable on return, without a new epoch. While another user's accepted login is in
  /// progress, the change applies to that user. It then becomes durable with the login, and fails with it.
  ///
  /// - Parameter requiringUser: the reason of the error that is thrown when no user is signed in.
  public func amend(
    service: String? = nil, requiringUser: Reason? = nil, accepted: @Sendable () -> Void = {},
    _ change: @escaping @Sendable (inout [String: Secret]) -> Void
  ) async throws {
    let name = try resolved(service).service
    let login = try await self.change(name) { core, _ in
      let (step, activity) = try core.amend(name, requiringUser: requiringUser, change)
      return (step, activity.map { outcome(of: $0) })
    }
    guard let login else { return }
    accepted()
    try await finished(login)
  }
}
