import JSONRPC
import SDKProtocol
import StateStore

/// What an input's actions make of the durable state: one change, all or nothing.
struct Draft {
  private(set) var change: InstanceChange
  private(set) var record: IdentityRecord
  private(set) var pushes: [PushRecord]
  private(set) var deliveries: [Delivery]
  /// Deliveries for which there was no room any more.
  private(set) var givenUp: [Delivery] = []
  private(set) var isDurable = false
  private(set) var adopts = false
  /// By how much the epoch rises.
  let raise: UInt64
  /// Whose activity it is.
  let progress: Progress?
  /// Whether what it says may be lost in a crash.
  private(set) var mayBeLost = false

  private let service: String?
  private let adapter: any SDKAdapter
  private let former: IdentityRecord
  private let now: Timestamp
  private var wipes = false
  private var isWipeTold = false

  /// - Parameter isInformed: whether the vendor has ended the session of whoever is wiped.
  init(
    _ actions: [AuthenticationMachine.Action], next: AuthenticationMachine, result: SignedIn?, progress: Progress?,
    isInformed: Bool, on lane: Lane, of instance: isolated HostedInstance
  ) {
    change = instance.newChange()
    former = lane.identity
    record = lane.identity
    pushes = instance.pushes
    deliveries = instance.deliveries
    raise = next.epoch - min(next.epoch, lane.storedEpoch)
    self.progress = progress
    service = lane.service
    adapter = instance.adapter
    now = instance.now
    for action in actions {
      switch action {
      case .wipe: wipe(isInformed: isInformed, phase: next.phase)
      case .adopt(let wipes):
        // What a wipe that failed has left behind is nobody's, also when the same user comes back.
        let isLeftover = lane.machine.phase == .locked && !lane.machine.isLockedByVendor
        let isSwitch = progress?.sameUser != true && former.user != .none
        if wipes, isLeftover || isSwitch {
          if former.user != .none {
            change.events.append(instance.event(.loggedOut(.switch), on: lane, result: nil))
          }
          wipe(isInformed: false, phase: next.phase)
          if isSwitch, lane.machine.mayHandOut, let logout = adapter.logout(ofReplaced: former, now: now) {
            deliveries.append(logout.of(service))
          }
        }
        adopt(result, phase: next.phase)
      case .adoptCredential(let verified): adoptCredential(result, verified: verified, phase: next.phase)
      case .noteSpending:
        guard adapter.spends(former) else { continue }
        isDurable = true
        record.isSpending = true
      case .fallBack:
        let isKept = next.standing == .expired
        if record.degraded == nil || record.credential != nil && !isKept { isDurable = true }
        if !isKept { record.credential = nil }
        record.degraded = "anonymousFallback"
      case .record: isDurable = true
      case .announce(let notice):
        // Of several services one where nobody was has nobody to tell of.
        if case .loggedOut = notice, former.user == .none, lane.service != nil { continue }
        isDurable = true
        if case .loggedIn = notice { tellOfWipe() }
        if case .loggedOut(.implicit) = notice, former.phase == .authenticated || former.phase == .reauthNeeded {
          record.isLoggedOutImplicitly = true
        }
        if progress?.operation != nil || instance.isNews(notice, on: lane) {
          tell(instance.event(notice, on: lane, result: result))
        }
        if let error = notice.failure { record.lastError = instance.lastError(error) }
        if case .logoutFailed = notice { retryLogout(random: instance.environment.clock.random()) }
      case .supersede:
        guard let former = lane.progress, former.operation != nil else { continue }
        isDurable = true
        change.events += instance.superseding(former, on: lane)
      case .finish(.signedOut):
        if record.isLoggedOutImplicitly != nil { isDurable = true }
        record.isLoggedOutImplicitly = nil
        if let own = progress?.events, !own.isEmpty {
          isDurable = true
          change.events += own.map { .init($0, service: lane.service, operation: progress?.operation) }
        }
        guard progress?.operation != nil, !actions.contains(.wipe) else { continue }
        // Nobody was signed in; whoever waits for the operation hears of its end all the same.
        isDurable = true
        tell(instance.event(.loggedOut(.explicit), on: lane, result: nil))
      case .finish(.failed(let error)) where error.origin != .unreachable || error.reason == .rateLimited:
        if record.isSpending != nil { isDurable = true }
        record.isSpending = nil
      default: continue
      }
    }
    // What is stored again may be lost once more; a wipe, a login or a spent credential may not.
    let renews = actions.contains { if case .adoptCredential = $0 { true } else { false } }
    mayBeLost = renews && !wipes && raise == 0 && result?.isIrreplaceable != true && former.isSpending == nil
    tellOfWipe()
    if let merge = result?.merge, adopts || wipes {
      change.events.insert(.init(.userMerged, service: service, data: merge.data), at: wipes ? 0 : change.events.count)
    }
    record.phase = next.phase
    if next.phase != .anonymous { record.degraded = nil }
    // A login that is only prepared leaves a credential that was refused as it is.
    let isStillRefused = next.standing == .none && former.isRefused && record.credential == former.credential
    record.isRefused = next.standing == .refused || isStillRefused && record.credential != nil
    keepNewestDeliveries()
    if wipes { writeAgain() }
    if adopts { welcome(result) }
    if wipes { isDurable = true }
  }

  /// An event of the activity: one for each operation that it ends.
  private mutating func tell(_ event: InstanceChange.NewEvent) {
    var event = event
    event.operation = progress?.operation
    change.events.append(event)
    for operation in progress?.joined ?? [] {
      event.operation = operation
      change.events.append(event)
    }
  }

  /// Adds the event of the wipe, if there is one: before that of the next user's login, or an app would clear what is
  /// theirs.
  private mutating func tellOfWipe() {
    guard wipes, !isWipeTold else { return }
    isWipeTold = true
    change.events.append(.init(.identityWiped, service: service))
  }

  /// A logout has failed: if the kind wants it tried again, that is noted together with the failure.
  private mutating func retryLogout(random: Double) {
    guard var delivery = adapter.retry(ofLogoutOf: former, now: now),
      !deliveries.contains(where: { $0.endsSession && $0.subject == delivery.subject })
    else { return }
    delivery.service = service
    delivery.nextAttemptAt = now + delivery.pause(random: random)
    guard let json = try? JSONValueEncoder.encode(delivery) else { return }
    change.parts.append(.putOutbox(id: delivery.id, json, deadline: delivery.deadline))
    deliveries.append(delivery)
  }

  /// What has changed of the kind's own since work at the vendor began stays changed.
  private mutating func keepChanges() {
    guard let basis = progress?.basis else { return }
    for key in Set(basis.keys).union(former.kindState.keys) where former.kindState[key] != basis[key] {
      record.kindState[key] = former.kindState[key]
    }
  }

  private mutating func adopt(_ result: SignedIn?, phase: AuthenticationMachine.Phase) {
    isDurable = true
    adopts = true
    guard let result else { return }
    // What is only prepared has not ended what the instance goes on without.
    let degraded = result.prepared == nil ? nil : record.degraded
    record = IdentityRecord(
      phase: phase, user: result.user, credential: result.credential, kindState: result.kindState)
    record.degraded = degraded
    if !wipes, former.user == .none || progress?.sameUser == true { keepChanges() }
    for amend in progress?.amendments ?? [] { amend(&record.kindState) }
    change.events += result.events.map { .init($0, service: service, operation: progress?.operation) }
  }

  private mutating func adoptCredential(_ result: SignedIn?, verified: Bool, phase: AuthenticationMachine.Phase) {
    isDurable = true
    adopts = true
    if let result {
      record.user = result.user
      record.credential = result.credential
      record.kindState = result.kindState
      keepChanges()
      change.events += result.events.map { .init($0, service: service) }
    } else if let offered = progress?.offered {
      record.credential = offered.credential
    }
    record.user.authenticated = true
    record.user.verified = (verified && result?.user.verified ?? true) || record.user.verified
    record.lastError = nil
    record.degraded = nil
    record.isSpending = nil
  }

  /// The user is gone: what they had is destroyed, and what the vendor must still hear is kept.
  private mutating func wipe(isInformed: Bool, phase: AuthenticationMachine.Phase) {
    guard !wipes else { return }
    let service = service
    if service != nil, former.isNobody {
      // Nothing to destroy, and what other services have is not touched.
      isDurable = true
      record = IdentityRecord(phase: phase)
      return
    }
    wipes = true
    change.parts.append(.wipe)
    let own = pushes.filter { $0.service == service && !$0.orphaned }
    deliveries += adapter.farewell(to: former, pushes: own, isInformed: isInformed, now: now).map { $0.of(service) }
    let isOrphaned = adapter.pushFarewell(isInformed: isInformed) == .orphaned
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
    record = IdentityRecord(phase: phase, kindState: adapter.remainder(of: former))
  }

  /// There is room for so many: a wipe never fails for what it adds.
  private mutating func keepNewestDeliveries() {
    let (kept, dropped) = Delivery.newest(deliveries)
    change.parts.insert(contentsOf: dropped.map { .deleteOutbox(id: $0.id) }, at: 0)
    deliveries = kept
    givenUp = dropped
  }

  /// What outlives a wipe is written under the new key.
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

  /// Whoever signs in again has no orphaned registrations and no logout that is still to be told.
  private mutating func welcome(_ result: SignedIn?) {
    guard result?.prepared == nil else { return }
    let service = service
    for delivery in deliveries where delivery.endsAtSignIn == true && delivery.service == service {
      change.parts.append(.deleteOutbox(id: delivery.id))
    }
    deliveries.removeAll { $0.endsAtSignIn == true && $0.service == service }
    guard let subject = adapter.subject(of: record) else { return }
    for push in pushes where push.orphaned && push.service == service && push.subject == subject {
      change.parts.append(.deletePush(id: push.id))
      change.events.append(.init(.pushUnregistered, service: service, data: push.eventData))
    }
    pushes.removeAll { $0.orphaned && $0.service == service && $0.subject == subject }
    for delivery in deliveries where delivery.endsSession && delivery.subject == subject {
      change.parts.append(.deleteOutbox(id: delivery.id))
    }
    deliveries.removeAll { $0.endsSession && $0.subject == subject }
  }
}

extension SignedIn.Merge {
  var data: JSONObject { ["from": .string(from), "to": .string(to), "mode": .string(mode)] }
}

extension PushRecord {
  /// The data of its events.
  var eventData: JSONObject {
    var data: JSONObject = ["id": .string(id)]
    data["user"] = try? JSONValueEncoder.encode(user)
    return data
  }
}
