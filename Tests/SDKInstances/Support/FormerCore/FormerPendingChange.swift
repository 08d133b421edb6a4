import JSONRPC
import SDKProtocol
import StateStore

@testable import SDKInstances

/// The change that an input's actions make to the durable state. It is committed as a whole.
struct FormerPendingChange {
  private(set) var change: InstanceChange
  private(set) var record: IdentityRecord
  private(set) var pushes: [PushRecord]
  private(set) var deliveries: [Delivery]
  /// The oldest deliveries, which are dropped because the instance has more than the maximum.
  private(set) var givenUp: [Delivery] = []
  private(set) var isDurable = false
  private(set) var adopts = false
  /// The number by which the epoch on disk is raised.
  let raise: UInt64
  /// The activity that the change belongs to.
  private let activity: RunningActivity?
  /// Whether the change may be lost in a crash. If it can't be stored, it takes effect in memory only.
  private(set) var mayBeLost = false
  /// Whether orphaned registrations belong to the user again, and are sent to the vendor again.
  private(set) var restoresPushes = false
  /// Whether the former identity is destroyed.
  private(set) var wipes = false
  /// The time of the last `networkError` event of this outage.
  private(set) var outageToldAt: Timestamp?

  private let core: InstanceCore
  private let state: ServiceState
  private let context: StepContext
  private var isWipeTold = false

  private var service: String? { state.service }
  private var former: IdentityRecord { state.identity }
  private var adapter: any SDKAdapter { core.adapter }

  /// - Parameter isInformed: whether the vendor has ended the wiped user's session.
  init(
    _ actions: [FormerMachine.Action], next: FormerMachine, result: SignedIn?,
    activity: RunningActivity?,
    isInformed: Bool, of state: ServiceState, in core: InstanceCore, _ context: StepContext
  ) {
    change = core.newChange()
    record = state.identity
    pushes = core.pushes
    deliveries = core.deliveries
    raise = next.epoch - min(next.epoch, state.storedEpoch)
    outageToldAt = state.outageToldAt
    self.activity = activity
    self.core = core
    self.state = state
    self.context = context
    for action in actions { add(action, of: actions, next: next, result: result, isInformed: isInformed) }
    complete(
      next: next, result: result, renews: actions.contains { if case .adoptCredential = $0 { true } else { false } })
  }

  /// Adds what an action of an input changes.
  private mutating func add(
    _ action: FormerMachine.Action, of actions: [FormerMachine.Action], next: FormerMachine,
    result: SignedIn?, isInformed: Bool
  ) {
    switch action {
    case .wipe: wipe(isInformed: isInformed, phase: next.phase)
    case .adopt(let wipes):
      if wipes { replaceFormer(phase: next.phase) }
      adopt(result, phase: next.phase)
    case .adoptCredential(let verified): adoptCredential(result, verified: verified, phase: next.phase)
    case .noteSpending:
      guard adapter.capabilities.renewal?.spends(former) == true else { return }
      isDurable = true
      record.isSpending = true
    case .fallBack:
      let isKept = next.standing == .expired
      if record.degraded == nil || record.credential != nil && !isKept { isDurable = true }
      if !isKept { record.credential = nil }
      record.degraded = "anonymousFallback"
    case .record: isDurable = true
    case .announce(let notice): announce(notice, result)
    case .supersede:
      guard let former = state.running, former.operation != nil else { return }
      isDurable = true
      change.events += core.superseding(former, by: activity, of: state)
    case .finish(.signedOut): finishSignOut(actions)
    case .finish(.failed(let error)) where error.origin != .unreachable || error.reason == .rateLimited:
      if record.isSpending != nil { isDurable = true }
      record.isSpending = nil
    default: return
    }
  }

  /// Wipes the former user, if a login replaces them by another.
  private mutating func replaceFormer(phase: FormerMachine.Phase) {
    // Data that a failed wipe left behind belongs to no user, not even to the same one at the next login.
    let isLeftover = state.machine.hasFailedWipe
    let isSwitch = activity?.sameUser != true && former.user != .none
    guard isLeftover || isSwitch else { return }
    if former.user != .none {
      change.events.append(core.event(.loggedOut(.switch), of: state, result: nil, context))
    }
    wipe(isInformed: false, phase: phase)
    // A report of an app may be wrong, so the vendor is told of that user's logout too.
    if isSwitch, state.machine.mayHandOut || state.machine.standing == .reported,
      let logout = adapter.capabilities.cleanup?.logout(ofReplaced: former, now: context.now)
    {
      deliveries.append(logout.of(service))
    }
  }

  private mutating func announce(_ notice: FormerMachine.Notice, _ result: SignedIn?) {
    // Only a user who was reported in is reported out, unless an operation needs its event.
    let isAlone = activity?.operation == nil
    if case .loggedOut = notice, former.user == .none, isAlone { return }
    isDurable = true
    if case .loggedIn = notice { tellOfWipe() }
    if case .loggedOut(.implicit) = notice, former.phase == .authenticated || former.phase == .reauthNeeded {
      record.isLoggedOutImplicitly = true
    }
    if activity?.operation != nil || notice.isNews(&outageToldAt, context.now) {
      tell(core.event(notice, of: state, result: result, context))
    }
    if let error = notice.failure { record.lastError = .init(error, at: context.now) }
    if case .logoutFailed = notice { retryLogout() }
  }

  private mutating func finishSignOut(_ actions: [FormerMachine.Action]) {
    // A repeated wipe can be that of an implicit logout.
    if record.isLoggedOutImplicitly != nil, !actions.contains(.announce(.loggedOut(.implicit))) {
      isDurable = true
      record.isLoggedOutImplicitly = nil
    }
    if let own = activity?.events, !own.isEmpty {
      isDurable = true
      change.events += own.map { .init($0, service: service, operation: activity?.operation) }
    }
    guard let own = activity?.operation, !actions.contains(.wipe) else { return }
    // No user was signed in, but callers that wait for the operation need its event.
    isDurable = true
    if let login = state.running?.operation, state.isSigningIn {
      change.events.append(core.loginSuperseded(login, by: activity, endingOperation: own, of: state))
    } else {
      tell(core.event(.loggedOut(.explicit), of: state, result: nil, context))
    }
  }

  /// Completes the change when all actions are in it.
  ///
  /// - Parameter renews: whether a renewed credential is adopted.
  private mutating func complete(next: FormerMachine, result: SignedIn?, renews: Bool) {
    // A renewed credential that can be obtained again may be lost. A wipe, a login or a single-use credential may not.
    mayBeLost = renews && !wipes && raise == 0 && result?.isIrreplaceable != true && former.isSpending == nil
    tellOfWipe()
    if let merge = result?.merge, adopts || wipes {
      change.events.insert(.init(.userMerged, service: service, data: merge.data), at: wipes ? 0 : change.events.count)
    }
    record.phase = next.phase
    if next.phase != .anonymous { record.degraded = nil }
    // A login that is only prepared does not clear the refusal of the present credential.
    let isStillRefused = next.standing == .none && former.isRefused && record.credential == former.credential
    record.isRefused = next.standing == .refused || isStillRefused && record.credential != nil
    keepNewestDeliveries()
    if wipes { writeAgain() }
    if adopts { welcome(result) }
    if wipes { isDurable = true }
  }

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

  /// Adds a delivery that retries a failed logout, if the kind wants one and none is pending for the same user.
  private mutating func retryLogout() {
    guard var delivery = adapter.capabilities.cleanup?.retry(ofLogoutOf: former, now: context.now),
      !deliveries.contains(where: { $0.endsSession && $0.subject == delivery.subject })
    else { return }
    delivery.service = service
    delivery.nextAttemptAt = context.now + delivery.pause(random: context.random)
    guard let json = try? JSONValueEncoder.encode(delivery) else { return }
    change.parts.append(.putOutbox(id: delivery.id, json, deadline: delivery.deadline))
    deliveries.append(delivery)
  }

  /// Keeps changes to the kind's state that were made while work at the vendor was in progress.
  private mutating func keepChanges() {
    guard let basis = activity?.basis else { return }
    for key in Set(basis.keys).union(former.kindState.keys) where former.kindState[key] != basis[key] {
      record.kindState[key] = former.kindState[key]
    }
  }

  private mutating func adopt(_ result: SignedIn?, phase: FormerMachine.Phase) {
    isDurable = true
    adopts = true
    guard let result else { return }
    // A login that is only prepared does not end the degradation with which the instance continues.
    let degraded = result.prepared == nil ? nil : record.degraded
    record = IdentityRecord(
      phase: phase, user: result.user, credential: result.credential, kindState: result.kindState)
    record.degraded = degraded
    if !wipes, former.user == .none || activity?.sameUser == true { keepChanges() }
    for amend in activity?.amendments ?? [] { amend(&record.kindState) }
    change.events += result.events.map { .init($0, service: service, operation: activity?.operation) }
  }

  private mutating func adoptCredential(_ result: SignedIn?, verified: Bool, phase: FormerMachine.Phase) {
    isDurable = true
    adopts = true
    if let result {
      record.user = result.user
      record.credential = result.credential
      record.kindState = result.kindState
      keepChanges()
      change.events += result.events.map { .init($0, service: service) }
    } else if let offered = activity?.offered {
      record.credential = offered.credential
    }
    if phase != .anonymous {
      record.user.authenticated = true
      record.user.verified = (verified && result?.user.verified ?? true) || record.user.verified
    }
    record.lastError = nil
    record.degraded = nil
    record.isSpending = nil
  }

  /// Destroys the former user's identity and data, and adds the cleanup deliveries that the vendor must still get.
  private mutating func wipe(isInformed: Bool, phase: FormerMachine.Phase) {
    guard !wipes else { return }
    let service = service
    if service != nil, former.isNobody {
      // There is nothing to destroy, and a wipe would affect the other services.
      isDurable = true
      record = IdentityRecord(phase: phase)
      return
    }
    wipes = true
    change.parts.append(.wipe)
    if isInformed, let subject = former.subject { dropLogouts(of: subject) }
    let own = pushes.filter { $0.service == service && !$0.orphaned }
    let cleanup = adapter.capabilities.cleanup
    let farewell = cleanup?.farewell(to: former, pushes: own, isInformed: isInformed, now: context.now) ?? []
    // Another service may use the same credential.
    let others = core.services.filter { $0.service != service }.map(\.identity)
    deliveries += farewell.compactMap { delivery in
      others.reduce(delivery.of(service)) { left, other in left.flatMap { cleanup?.sparing(other, in: $0) } }
    }
    let isOrphaned = !isInformed && adapter.capabilities.push?.pushRules.outliveUser == true
    for push in own {
      change.events.append(
        .init(isOrphaned ? .pushOrphaned : .pushUnregistered, service: service, data: push.eventData))
    }
    pushes = pushes.compactMap { push in
      guard push.service == service, !push.orphaned else { return push }
      guard isOrphaned else { return nil }
      var push = push
      push.orphaned = true
      return push
    }
    record = IdentityRecord(
      phase: phase, kindState: cleanup?.remainder(of: former, pushes: isInformed ? [] : own) ?? [:])
  }

  /// Drops the oldest deliveries above the maximum, so that a wipe never fails because of the deliveries it adds.
  private mutating func keepNewestDeliveries() {
    let (kept, dropped) = Delivery.newest(deliveries)
    change.parts.insert(contentsOf: dropped.map { .deleteOutbox(id: $0.id) }, at: 0)
    deliveries = kept
    givenUp = dropped
  }

  /// Writes the push registrations and deliveries that remain after a wipe. Registrations are encrypted under the new
  /// key.
  private mutating func writeAgain() {
    for push in pushes {
      guard let json = try? JSONValueEncoder.encode(push) else { continue }
      change.parts.append(.putPush(id: push.id, json))
    }
    for delivery in deliveries {
      guard let json = try? JSONValueEncoder.encode(delivery) else { continue }
      change.parts.append(.putOutbox(id: delivery.id, json, deadline: delivery.deadline))
    }
  }

  /// Removes what a sign-in makes obsolete: deliveries with `endsAtSignIn`, the user's pending logouts, and what would
  /// end the credential that is in use now. The user's orphaned registrations belong to the user again. A login that is
  /// only prepared removes nothing.
  private mutating func welcome(_ result: SignedIn?) {
    guard result?.prepared == nil else { return }
    let service = service
    for delivery in deliveries where delivery.endsAtSignIn == true && delivery.service == service {
      change.parts.append(.deleteOutbox(id: delivery.id))
    }
    deliveries.removeAll { $0.endsAtSignIn == true && $0.service == service }
    spareCredential()
    if result?.losesPushes == true { restoresPushes = pushes.contains { $0.service == service && !$0.orphaned } }
    guard let subject = record.subject else { return }
    for index in pushes.indices
    where pushes[index].orphaned && pushes[index].service == service && pushes[index].subject == subject {
      pushes[index].orphaned = false
      restoresPushes = true
      guard let json = try? JSONValueEncoder.encode(pushes[index]) else { continue }
      change.parts.append(.putPush(id: pushes[index].id, json))
      change.events.append(.init(.pushRegistered, service: service, data: pushes[index].eventData))
    }
    dropLogouts(of: subject)
  }

  /// Keeps deliveries from ending the credential of the new identity at the vendor.
  private mutating func spareCredential() {
    guard let cleanup = adapter.capabilities.cleanup else { return }
    deliveries = deliveries.compactMap { delivery in
      let spared = cleanup.sparing(record, in: delivery)
      guard spared != delivery else { return delivery }
      if let spared, let json = try? JSONValueEncoder.encode(spared) {
        change.parts.append(.putOutbox(id: spared.id, json, deadline: spared.deadline))
      } else {
        change.parts.append(.deleteOutbox(id: delivery.id))
      }
      return spared
    }
  }

  /// Removes the pending logouts of a user at the present backend.
  private mutating func dropLogouts(of subject: Secret) {
    let dropped = deliveries.filter {
      $0.endsSession && $0.subject == subject && $0.service == service && $0.isOfFormerBackend != true
    }
    for delivery in dropped { change.parts.append(.deleteOutbox(id: delivery.id)) }
    deliveries.removeAll { delivery in dropped.contains { $0.id == delivery.id } }
  }
}
