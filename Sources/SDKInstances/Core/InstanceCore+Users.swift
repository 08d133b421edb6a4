import JSONRPC
import SDKProtocol
import StateStore

extension InstanceCore {
  /// The maximum number of callers that join a login in progress. Each of them gets an event.
  static let maximumJoined = 64

  /// Begins a login, or joins the same login that is in progress.
  ///
  /// - Parameter operation: the operation id in the login's events; `nil` for a caller that waits.
  /// - Throws: `rateLimit` if `maximumJoined` callers have joined the login.
  mutating func signIn(
    _ credential: CheckedCredential, operation: String?, on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    if let running = state.running, isInProgress(credential, on: state) {
      guard let operation else { return Step(awaited: running.id) }
      guard running.joined.count < Self.maximumJoined else {
        throw SDKError(
          .limit, .rateLimit, "\(running.joined.count) calls wait for this login on \(id) already; wait for its end.",
          instance: id, retryAfter: 1)
      }
      self[service]?.running?.joined.append(operation)
      return Step(awaited: running.id)
    }
    var activity = RunningActivity(newActivity())
    activity.offered = credential
    if state.identity.user != .none { activity.sameUser = adapter.isSameUser(credential, as: state.identity) ?? false }
    activity.operation = operation
    let sameUser = state.machine.hasIdentity ? activity.sameUser : nil
    return apply(.signIn(sameUser: sameUser), on: service, beginning: activity, context)
  }

  /// Whether a login with this credential is in progress.
  func isInProgress(_ credential: CheckedCredential, on state: ServiceState) -> Bool {
    guard state.isSigningIn, let offered = state.running?.offered else { return false }
    return adapter.isSameLogin(credential, as: offered)
  }

  /// Whether the present credential could be used for a call now, and no login or logout is in progress.
  ///
  /// False also while the vendor checks a renewed credential: the result would replace what a login changes meanwhile.
  func isUsable(_ state: ServiceState, _ context: StepContext) -> Bool {
    if case .verifying = state.machine.activity { return false }
    return state.machine.mayHandOut && state.machine.phase == .authenticated && !state.hasExpired(context)
      && (state.machine.activity == .idle || state.machine.isRecovering)
  }

  /// Handles a login of the user who is already signed in with a usable credential: changes the identity and emits the
  /// login event, without the vendor.
  mutating func signInAgain(
    _ change: (inout IdentityRecord) -> Void, operation: String?, on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    var record = state.identity
    change(&record)
    var event = event(
      .loggedIn, of: state, result: SignedIn(user: record.user, credential: nil), context)
    event.operation = operation
    let parts = record.subject.map { dropLogouts(of: $0, on: service) } ?? []
    return replaceIdentity(of: service, by: record, events: [event], parts: parts)
  }

  /// Begins a logout.
  ///
  /// - Parameters:
  ///   - events: the kind's own events to emit with it.
  ///   - requiringUser: the reason of the error that is thrown when no user is signed in.
  mutating func signOut(
    localOnly: Bool, as cause: LogoutCause, operation: String?, telling events: [EventType], requiringUser: Reason?,
    on service: String?, _ context: StepContext
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    if let requiringUser, state.identity.user == .none, !state.isSigningInBehind {
      throw SDKError(.state, requiringUser, "Nobody is signed in on \(id); sign in first.", instance: id)
    }
    var activity = RunningActivity(newActivity())
    activity.operation = operation
    activity.events = events
    activity.logout = cause
    // An anonymous user has no session that a logout could end.
    let isAnonymous = state.identity.user != .none && !state.identity.user.authenticated
    let input = Input.signOut(localOnly: localOnly || isAnonymous, as: cause, hasExpired: state.hasExpired(context))
    return apply(input, on: service, beginning: activity, context)
  }

  /// Begins to create an anonymous user, if the kind has such users and there is no user. Waits for an activity in
  /// progress.
  mutating func createAnonymousUser(on service: String?, _ context: StepContext) throws(SDKError) -> Step {
    let state = try existing(service)
    guard adapter.capabilities.anonymousUsers != nil, mayBecomeAnonymous(state) else { return Step() }
    if let activity = state.running, state.machine.activity != .idle { return Step(awaited: activity.id) }
    var step = apply(.userNeeded, on: service, context)
    step.awaited = self[service]?.running?.id
    return step
  }

  /// Changes the kind's own state. While the login of another user is in progress, the change applies to that user, and
  /// is stored when the login is.
  ///
  /// - Parameter requiringUser: the reason of the error that is thrown when no user is signed in.
  mutating func amend(
    _ service: String?, requiringUser: Reason?, _ change: @escaping @Sendable (inout [String: Secret]) -> Void
  ) throws(SDKError) -> Step {
    let state = try existing(service)
    if state.isSigningInBehind, let activity = state.running, activity.sameUser != true,
      state.identity.user != .none || requiringUser != nil
    {
      self[service]?.running?.amendments.append(change)
      return Step(awaited: activity.id)
    }
    if let requiringUser, state.identity.user == .none {
      throw SDKError(.state, requiringUser, "Nobody is signed in on \(id); sign in first.", instance: id)
    }
    var record = state.identity
    change(&record.kindState)
    return replaceIdentity(of: service, by: record)
  }

  /// Wipes what apps have stored, and changes the kind's own state. The user stays, under another key.
  mutating func clearStorage(
    of service: String?, _ change: (inout [String: Secret]) -> Void
  ) throws(SDKError) -> Step {
    try checkWiped()
    var record = try existing(service).identity
    change(&record.kindState)
    self[service]?.identity = record
    return step(committing: newChange(parts: [.wipe] + Self.parts(writing: pushes, deliveries)))
  }

  /// Wipes the data of a former user at start, if the kind keeps identities in memory only. Its owner is unknown then,
  /// and the next user must not inherit it. Push registrations stay at the vendor, orphaned.
  ///
  /// - Parameter hasValues: whether there are values in storage.
  mutating func wipeUnkept(hasValues: Bool) -> Step {
    guard !adapter.traits.persistsIdentity, let state = services.first, state.identity.isNobody else { return Step() }
    let abandoned = pushes.filter { !$0.orphaned }
    guard !abandoned.isEmpty || hasValues else { return Step() }
    for index in pushes.indices { pushes[index].orphaned = true }
    var change = newChange(parts: [.wipe] + Self.parts(writing: pushes, deliveries))
    change.events = abandoned.map { .init(.pushOrphaned, service: $0.service, data: $0.eventData) }
    change.events.append(.init(.identityWiped, service: state.service))
    var step = step(committing: change)
    step.failure = .end([], of: state.service, rests: true, wipe: .explicit, isKnownToVendor: false)
    return step
  }

  /// Repeats a wipe that could not be stored, unless a login is in progress, which wipes too. The user is then logged
  /// out, with the cause of the wipe that failed.
  mutating func repeatWipe(on service: String?, _ context: StepContext) -> Step {
    guard !isDeleted, let state = self[service], state.machine.hasFailedWipe, state.machine.activity == .idle else {
      return Step()
    }
    let (cause, isKnown) = state.failedWipe ?? (.explicit, false)
    // A guest or another user does not follow this time.
    let isAlone = cause != .guest && cause != .switch
    return apply(.signOut(localOnly: true, as: isAlone ? cause : .explicit), on: service, isInformed: isKnown, context)
  }

  /// Throws `locked` while data of a former user is still there because a wipe could not be stored.
  func checkWiped() throws(SDKError) {
    if let state = services.first(where: { $0.machine.hasFailedWipe }) { throw noToken(of: state) }
  }

  /// Returns the parts that write registrations and deliveries. After a wipe, registrations are encrypted under the key
  /// that follows it.
  static func parts(writing pushes: [PushRecord], _ deliveries: [Delivery]) -> [InstanceChange.Part] {
    pushes.compactMap { push in
      (try? JSONValueEncoder.encode(push)).map { .putPush(id: push.id, $0) }
    }
      + deliveries.compactMap { delivery in
        (try? JSONValueEncoder.encode(delivery)).map { .putOutbox(id: delivery.id, $0, deadline: delivery.deadline) }
      }
  }
}
