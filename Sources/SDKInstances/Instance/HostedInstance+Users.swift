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

extension CallContext {
  /// Releases the call's position like `accepted()`, and makes later calls of this connection that concern the user
  /// wait for a login of another user, which continues after the reply.
  public func accepted(_ login: HostedInstance.PendingSignIn) {
    if login.isOfOtherUser, let outcome = login.outcome {
      notes.login = AcceptedLogin(
        end: { try await outcome.success(of: login.id) }, isOver: { outcome.result != nil })
    }
    accepted()
  }

  /// Waits for the logins of other users that were accepted earlier on this connection. The call's position is
  /// released meanwhile, so that a logout can supersede them.
  ///
  /// - Throws: the failure of such a login; `timeout`.
  func awaitLogins(of instance: InstanceID, within limit: WaitLimit) async throws {
    for login in logins where login.result == nil {
      accepted()
      try await login.value(within: limit.left, of: instance, lacking: "The login has not ended")
    }
    for case .failure(let error)? in logins.map(\.result) { throw error }
  }
}

extension HostedInstance {
  /// A login that has begun. `outcome` is `nil` if there was nothing to do.
  public struct PendingSignIn: Sendable {
    let id: InstanceID
    let service: String?
    let outcome: PendingOutcome?
    /// Whether the login is of another user than the one who is signed in.
    let isOfOtherUser: Bool
  }

  /// Logs a user in with a credential that the caller provides. Makes no request to the bridge.
  ///
  /// - Parameters:
  ///   - operation: the operation id in the login's events, for callers that don't wait.
  ///   - epoch: the service's epoch when the caller began; if it has changed, the login throws `superseded`. `nil`
  ///     accepts any.
  ///   - accepted: called once the login has begun. From then on a later login supersedes it.
  ///   - offering: checks the caller's credential with the kind's own adapter and returns it, or `nil` when there is
  ///     nothing to do. `isUsable` is whether the present credential is usable.
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

  /// Begins a login with a credential that the caller provides, without waiting for the vendor. The parameters are
  /// those of `signIn`.
  ///
  /// - Parameter settling: changes the identity when `offering` returns `nil`, because the user is already signed in.
  ///   Such a login still emits its event, and drops the user's pending logouts.
  public func beginSignIn<Adapter: SDKAdapter>(
    service: String? = nil, operation: String? = nil, since epoch: UInt64? = nil,
    settling: (@Sendable (inout IdentityRecord) -> Void)? = nil,
    offering: @Sendable (Adapter, IdentityRecord, _ isUsable: Bool) throws -> CheckedCredential?
  ) async throws -> PendingSignIn {
    typealias Begun = Result<(service: String?, isOfOtherUser: Bool), any Error>
    let (begun, pending) = try await actor.changeUser(of: service, isLogin: true) {
      core, name, context -> (step: Step, value: Begun) in
      let state = try core.existing(name)
      let own: Adapter = try core.own()
      do {
        // A session that is being ended must be set up again.
        let isUsable = core.isUsable(state, context) && !core.isEnding(state)
        if let checked = try offering(own, state.identity, isUsable) {
          if let epoch, epoch != state.machine.epoch, !core.isInProgress(checked, on: state) { throw core.superseded }
          let step = try core.signIn(checked, operation: operation, on: name, context)
          return (step, .success((name, core[name]?.running?.sameUser != true)))
        }
      } catch let error as SDKError where error.origin == .local || error.origin == .vendor {
        // The vendor would refuse this credential, so the failure is announced without a request.
        let step = core.announce(.authenticationFailed(error), on: name, operation: operation, context)
        return (step, .failure(error.about(id)))
      } catch let error as SDKError {
        throw error.about(id)
      }
      return (
        try settling.map { try core.signInAgain($0, operation: operation, on: name, context) } ?? Step(),
        .success((name, false))
      )
    }
    try throwIfNotStored(pending)
    let login = try begun.get()
    return PendingSignIn(id: id, service: login.service, outcome: pending, isOfOtherUser: login.isOfOtherUser)
  }

  /// Waits for a login that has begun, and returns its outcome.
  ///
  /// - Parameter timeout: the seconds to wait, after which the login continues without the caller. `nil` waits for its
  ///   end.
  public func finish(_ pending: PendingSignIn, timeout: Double? = nil) async throws -> SignInOutcome {
    if let running = pending.outcome, let timeout {
      let outcome = try await running.value(within: timeout, of: id, lacking: "The login has not ended")
      if case .failed(let error) = outcome { throw error.about(id) }
    } else if let running = pending.outcome {
      try await running.success(of: id)
    }
    let user = await actor.core[pending.service]?.visibleUser ?? .none
    return SignInOutcome(user: user, changed: pending.isOfOtherUser, wiped: pending.outcome?.wiped.value)
  }

  /// Waits for the login in progress, if it is one that `isMeant` accepts, and returns its outcome; `nil` without one.
  public func joinLogin(
    service: String? = nil, _ isMeant: @Sendable (CheckedCredential) -> Bool
  ) async throws -> SignInOutcome? {
    let name = try actor.resolve(service)
    let login = try await actor.running(on: name) { state in
      state.isSigningIn && state.running?.offered.map(isMeant) == true
    }
    guard let login else { return nil }
    return try await finish(PendingSignIn(id: id, service: name, outcome: login, isOfOtherUser: true))
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
    guard case .signedOut(let informed)? = try await pending?.success(of: id) else { return false }
    return informed
  }

  /// Logs out on every service.
  public func signOutEverywhere() async throws {
    for service in await actor.core.services.map(\.service) {
      _ = try await signOut(service: service, localOnly: false, accepted: {})
    }
  }

  /// Begins a logout and does not wait for the vendor.
  private func beginSignOut(
    service: String?, localOnly: Bool, as cause: LogoutCause = .explicit, operation: String? = nil,
    telling events: [EventType] = [], requiringUser: Reason? = nil
  ) async throws -> PendingOutcome? {
    try await actor.changeUser(of: service) { core, name, context in
      let step = try core.signOut(
        localOnly: localOnly, as: cause, operation: operation, telling: events, requiringUser: requiringUser, on: name,
        context)
      return (step, ())
    }.pending
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
    try throwIfNotStored(pending)
    accepted()
    return { timeout in
      let outcome = try await pending?.value(within: timeout, of: id, lacking: "The logout has not ended")
      if case .failed(let error)? = outcome { throw error.about(id) }
    }
  }

  /// Throws if a login or logout could not be stored. It has not begun then, and emits no event.
  private func throwIfNotStored(_ pending: PendingOutcome?) throws(SDKError) {
    if case .success(.failed(let error))? = pending?.result, error.origin == .store { throw error.about(id) }
  }

  /// Requests the data for a login from the owner. Changes no state.
  ///
  /// - Returns: the answer, and the epoch of the request, for the login that follows.
  public func askOwner(
    service: String? = nil, _ question: BridgeQuestion.Name
  ) async throws -> (answer: BridgeAnswer, epoch: UInt64) {
    let name = try actor.resolve(service)
    // Only one request at a time: a renewal in progress ends first.
    while let renewal = try await actor.running(on: name, { $0.machine.isRecovering }) {
      do { _ = try await renewal.value() } catch let error as SDKError where error.reason != .shuttingDown {}
    }
    let request = try await actor.requestToOwner(question, on: name)
    do {
      return (try await request.answer.value(), request.epoch)
    } catch let error as SDKError {
      let core = await actor.core
      throw core[name]?.machine.epoch == request.epoch ? error.about(id) : core.superseded
    }
  }

  /// Tells the bridge whether the answer of `askOwner` could be used. The run that gave an invalid one counts as failed.
  public func judgeAnswer(isUsable: Bool, service: String? = nil) throws {
    actor.judgeAnswer(isUsable: isUsable, of: try actor.resolve(service))
  }

  /// Returns the present state of the service that a call names.
  func present(_ service: String?) async throws -> InstanceActor.Snapshot {
    try await actor.snapshot(of: try actor.resolve(service))
  }

  /// Returns the identity of a service, for reads by the kind itself.
  public func identity(of service: String? = nil) async throws -> IdentityRecord { try await present(service).identity }

  /// Returns the adapter and the identity of a service, for work of the kind itself.
  public func state<Adapter: SDKAdapter>(
    of service: String? = nil, as type: Adapter.Type
  ) async throws -> (adapter: Adapter, identity: IdentityRecord) {
    let present = try await present(service)
    return (try present.core.own(), present.identity)
  }

  /// Changes the kind's own state; durable on return, without a new epoch. While another user's accepted login is in
  /// progress, the change applies to that user. It then becomes durable with the login, and fails with it.
  ///
  /// - Parameters:
  ///   - requiringUser: the reason of the error that is thrown when no user is signed in.
  ///   - storageEpoch: the expected storage epoch; with another one, the change fails with `epochChanged`.
  public func amend(
    service: String? = nil, requiringUser: Reason? = nil, storageEpoch: String? = nil,
    accepted: @Sendable () -> Void = {},
    _ change: @escaping @Sendable (inout [String: Secret]) -> Void
  ) async throws {
    let name = try actor.resolve(service)
    let login = try await actor.change(name) { core, _ in
      try core.check(storageEpoch: storageEpoch)
      return try core.amend(name, requiringUser: requiringUser, change)
    }
    guard let login else { return }
    accepted()
    try await login.success(of: id)
  }
}
