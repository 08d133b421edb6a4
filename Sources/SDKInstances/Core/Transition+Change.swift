import JSONRPC
import SDKProtocol
import StateStore

/// The durable changes of a step.
extension Transition {
  mutating func supersede() {
    guard let ended = former.running else { return }
    supersededActivity = ended.id
    state.running = begun
    guard ended.operation != nil else { return }
    isDurable = true
    change.events += core.superseding(ended, by: activity, of: former)
  }

  mutating func record() { isDurable = true }

  mutating func adopt(wiping: Bool) {
    if wiping { replaceFormer() }
    isDurable = true
    adopts = true
    guard let result else { return }
    // A login that is only prepared does not end the degradation with which the instance continues.
    let degraded = result.prepared == nil ? nil : state.identity.degraded
    state.identity = IdentityRecord(
      phase: state.identity.phase, user: result.user, credential: result.credential, kindState: result.kindState)
    state.identity.degraded = degraded
    if !wipes, former.identity.user == .none || activity?.sameUser == true { keepChanges() }
    for amend in activity?.amendments ?? [] { amend(&state.identity.kindState) }
    change.events += result.events.map { .init($0, service: service, operation: activity?.operation) }
  }

  mutating func adoptCredential(verified: Bool, isAnonymous: Bool) {
    isDurable = true
    adopts = true
    renews = true
    if let result {
      state.identity.user = result.user
      state.identity.credential = result.credential
      state.identity.kindState = result.kindState
      keepChanges()
      change.events += result.events.map { .init($0, service: service) }
    } else if let offered = activity?.offered {
      state.identity.credential = offered.credential
    }
    if !isAnonymous {
      state.identity.user.authenticated = true
      state.identity.user.verified = (verified && result?.user.verified ?? true) || state.identity.user.verified
    }
    state.identity.lastError = nil
    state.identity.degraded = nil
    state.identity.isSpending = nil
  }

  mutating func fallBack(keepingCredential: Bool) {
    if state.identity.degraded == nil || state.identity.credential != nil && !keepingCredential { isDurable = true }
    if !keepingCredential { state.identity.credential = nil }
    state.identity.degraded = "anonymousFallback"
  }

  mutating func wipe() {
    wipeCause = .explicit
    destroyFormer(isInformed: isInformed)
  }

  mutating func announce(_ notice: AuthenticationMachine.Notice) {
    let isRefreshed = if case .tokenRefreshed = notice { true } else { false }
    written.append(.log(notice, tokenId: isRefreshed ? state.identity.credential?.tokenId : nil))
    if case .refreshFailed(let error) = notice { refreshFailure = error }
    if case .loggedOut(let cause) = notice {
      if wipeCause != nil { wipeCause = cause }
      // Only a user who was reported in is reported out, unless an operation needs its event.
      if former.identity.user == .none, activity?.operation == nil { return }
    }
    isDurable = true
    if case .loggedIn = notice { tellOfWipe() }
    let formerPhase = former.identity.phase
    if case .loggedOut(.implicit) = notice, formerPhase == .authenticated || formerPhase == .reauthNeeded {
      state.identity.isLoggedOutImplicitly = true
    }
    if activity?.operation != nil || notice.isNews(&state.outageToldAt, context.now) {
      tell(core.event(notice, of: former, result: result, context))
    }
    if let error = notice.failure { state.identity.lastError = .init(error, at: context.now) }
    if case .logoutFailed = notice { retryLogout() }
  }

  /// Adds the events that end a logout: the kind's own, and the one for which callers wait when no user was signed in.
  mutating func tellOfSignOut() {
    // A repeated wipe can be that of an implicit logout.
    if state.identity.isLoggedOutImplicitly != nil, wipeCause != .implicit {
      isDurable = true
      state.identity.isLoggedOutImplicitly = nil
    }
    if let own = activity?.events, !own.isEmpty {
      isDurable = true
      change.events += own.map { .init($0, service: service, operation: activity?.operation) }
    }
    guard let own = activity?.operation, wipeCause == nil else { return }
    isDurable = true
    if let login = former.running?.operation, former.isSigningIn {
      change.events.append(core.loginSuperseded(login, by: activity, endingOperation: own, of: former))
    } else {
      tell(core.event(.loggedOut(.explicit), of: former, result: nil, context))
    }
  }

  /// Completes a durable change when the machine has written all of it.
  ///
  /// - Returns: the oldest deliveries, which are dropped because the instance has more than the maximum.
  mutating func completeChange() -> [Delivery] {
    tellOfWipe()
    if let merge = result?.merge, adopts || wipes {
      change.events.insert(.init(.userMerged, service: service, data: merge.data), at: wipes ? 0 : change.events.count)
    }
    state.identity.phase = state.machine.phase
    if state.machine.phase != .anonymous { state.identity.degraded = nil }
    // A login that is only prepared does not clear the refusal of the present credential.
    let isStillRefused =
      state.machine.standing == .none && former.identity.isRefused && state.identity.credential != nil
      && state.identity.credential == former.identity.credential
    state.identity.isRefused = state.machine.standing == .refused || isStillRefused
    let (newest, dropped) = Delivery.newest(core.deliveries)
    core.deliveries = newest
    change.parts.insert(contentsOf: dropped.map { .deleteOutbox(id: $0.id) }, at: 0)
    // Registrations are encrypted under the key that follows the wipe. Deliveries have keys of their own, which stay.
    if wipes { change.parts += InstanceCore.parts(writing: core.pushes, core.deliveries) }
    if adopts, result?.prepared == nil { welcome() }
    return dropped
  }

  // MARK: Events

  /// Appends an event with the activity's operation, and one for each operation that joined it.
  private mutating func tell(_ event: InstanceChange.NewEvent) {
    var event = event
    event.operation = activity?.operation
    change.events.append(event)
    // The former user's end precedes the outcome of a login, and is no outcome itself.
    if event.type == .userLoggedOut, activity?.logout == nil { return }
    for operation in activity?.joined ?? [] {
      event.operation = operation
      change.events.append(event)
    }
  }

  /// Appends the event of the wipe, if the change has one. It precedes the event of the next user's login, so that apps
  /// don't delete the next user's data.
  private mutating func tellOfWipe() {
    guard wipes, !isWipeTold else { return }
    isWipeTold = true
    change.events.append(.init(.identityWiped, service: service))
  }

  // MARK: The former user

  /// Wipes the former user, if a login replaces them by another.
  private mutating func replaceFormer() {
    // Data that a failed wipe left behind belongs to no user, not even to the same one at the next login.
    let isLeftover = former.machine.hasFailedWipe
    let isSwitch = activity?.sameUser != true && former.identity.user != .none
    guard isLeftover || isSwitch else { return }
    if former.identity.user != .none {
      change.events.append(core.event(.loggedOut(.switch), of: former, result: nil, context))
    }
    destroyFormer(isInformed: false)
    // A report of an app may be wrong, so the vendor is told of that user's logout too.
    if isSwitch, former.machine.mayHandOut || former.machine.standing == .reported,
      let logout = adapter.capabilities.cleanup?.logout(ofReplaced: former.identity, now: context.now)
    {
      core.deliveries.append(logout.of(service))
    }
  }

  /// Destroys the former user's identity and data, and adds the cleanup deliveries that the vendor must still get.
  private mutating func destroyFormer(isInformed: Bool) {
    guard !wipes else { return }
    isDurable = true
    let (service, identity) = (service, former.identity)
    state.identity = IdentityRecord(phase: identity.phase)
    // There may be nothing to destroy, and a wipe would affect the other services.
    if service != nil, identity.isNobody { return }
    wipes = true
    change.parts.append(.wipe)
    if isInformed, let subject = identity.subject { change.parts += core.dropLogouts(of: subject, on: service) }
    let own = core.ownPushes(of: service)
    let others = core.services.filter { $0.service != service }
    core.deliveries += core.farewell(to: former, isInformed: isInformed, sparing: others, context.now)
    let isOrphaned = !isInformed && adapter.capabilities.push?.pushRules.outliveUser == true
    change.events += own.map { push in
      InstanceChange.NewEvent(isOrphaned ? .pushOrphaned : .pushUnregistered, service: service, data: push.eventData)
    }
    core.pushes = core.pushes.compactMap { push in
      guard push.service == service, !push.orphaned else { return push }
      guard isOrphaned else { return nil }
      var push = push
      push.orphaned = true
      return push
    }
    let remainder = adapter.capabilities.cleanup?.remainder(of: identity, pushes: isInformed ? [] : own)
    state.identity.kindState = remainder ?? [:]
  }

  /// Adds a delivery that retries a failed logout, if the kind wants one and none is pending for the same user.
  private mutating func retryLogout() {
    guard var delivery = adapter.capabilities.cleanup?.retry(ofLogoutOf: former.identity, now: context.now),
      !core.deliveries.contains(where: { $0.endsSession && $0.subject == delivery.subject })
    else { return }
    delivery.service = service
    delivery.nextAttemptAt = context.now + delivery.pause(random: context.random)
    change.parts += InstanceCore.parts(writing: [], [delivery])
    core.deliveries.append(delivery)
  }

  // MARK: The next user

  /// Keeps changes to the kind's state that were made while work at the vendor was in progress.
  private mutating func keepChanges() {
    guard let basis = activity?.basis else { return }
    let present = former.identity.kindState
    for key in Set(basis.keys).union(present.keys) where present[key] != basis[key] {
      state.identity.kindState[key] = present[key]
    }
  }

  /// Removes what a sign-in makes obsolete: deliveries with `endsAtSignIn`, the user's pending logouts, and what would
  /// end the credential that is in use now. The user's orphaned registrations belong to the user again.
  private mutating func welcome() {
    let service = service
    change.parts += core.drop { $0.endsAtSignIn == true && $0.service == service }
    spareCredential()
    if result?.losesPushes == true { restoresPushes = !core.ownPushes(of: service).isEmpty }
    guard let subject = state.identity.subject else { return }
    for index in core.pushes.indices {
      var push = core.pushes[index]
      guard push.orphaned, push.service == service, push.subject == subject else { continue }
      push.orphaned = false
      core.pushes[index] = push
      restoresPushes = true
      change.parts += InstanceCore.parts(writing: [push], [])
      change.events.append(.init(.pushRegistered, service: service, data: push.eventData))
    }
    change.parts += core.dropLogouts(of: subject, on: service)
  }

  /// Keeps deliveries from ending the credential of the new identity at the vendor.
  private mutating func spareCredential() {
    guard let cleanup = adapter.capabilities.cleanup else { return }
    core.deliveries = core.deliveries.compactMap { delivery in
      let spared = cleanup.sparing(state.identity, in: delivery)
      guard spared != delivery else { return delivery }
      change.parts += spared.map { InstanceCore.parts(writing: [], [$0]) } ?? [.deleteOutbox(id: delivery.id)]
      return spared
    }
  }
}

extension SignedIn.Merge {
  var data: JSONObject { ["from": .string(from), "to": .string(to), "mode": .string(mode)] }
}

extension PushRecord {
  /// The data of events about this registration.
  var eventData: JSONObject {
    var data: JSONObject = ["id": .string(id)]
    data["user"] = try? JSONValueEncoder.encode(user)
    return data
  }
}
