import Concurrency
import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
import StateStore

extension HostedInstance {
  typealias Action = AuthenticationMachine.Action
  typealias Input = AuthenticationMachine.Input

  /// Applies an input to the lane's machine: commits the durable part, publishes it, then begins the remaining actions.
  /// Call it while `changing` is locked.
  ///
  /// - Parameters:
  ///   - begun: the activity that the input begins, if it begins one.
  ///   - result: the vendor's result, for inputs that carry one.
  ///   - isInformed: whether the vendor has ended the wiped user's session.
  /// - Returns: whether the input took effect; `false` when the change could not be stored.
  @discardableResult
  func take(
    _ input: Input, on lane: Lane, beginning begun: Progress? = nil, with result: SignedIn? = nil,
    isInformed: Bool = false
  ) async -> Bool {
    var next = lane.machine
    let actions = next.apply(input)
    let former = lane.progress
    let draft = Draft(
      actions, next: next, result: result, progress: begun ?? former,
      isInformed: isInformed || input.tellsThatVendorKnows, on: lane, of: self)
    var done = CommitResult()
    do throws(SDKError) {
      done = try await commit(draft, on: lane)
    } catch {
      guard draft.mayBeLost else {
        let isKnown = isInformed || input.tellsThatVendorKnows
        storeFailed(error, actions: actions, on: lane, begun: begun, isKnownToVendor: isKnown)
        return false
      }
      // A renewed token that can be obtained again is served from memory. The store's health shows the failed write.
      logger.error("A renewed token could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
      lane.identity = draft.record
    }
    rememberRecovery(next, actions, on: lane, after: input)
    if next.epoch != lane.machine.epoch { lane.endNeed() }
    let isNextUser = lane.machine.activity == .signingIn && draft.adopts && draft.progress?.sameUser != true
    lane.machine = next
    if isNextUser { forgetThrottle(of: lane) }
    if actions.contains(.supersede) { former?.outcome.resolve(.failure(superseded)) }
    if let begun { lane.progress = begun } else if actions.contains(.supersede) { lane.progress = nil }
    if lane.progress == nil, lane.machine.activity != .idle { lane.progress = Progress() }
    // A credential that was provided for the wiped user must not sign them in again.
    if actions.contains(.wipe) { lane.supply = nil }
    if let result, draft.adopts { adopted(result, on: lane) }
    note(actions, on: lane)
    publish()
    // Emitted after publishing, so that observers of a logout can no longer read the former token.
    environment.events.append(done.events)
    for action in actions { begin(action.ended(unfinished: done.unfinished), on: lane, result: result) }
    keepConnection(of: lane)
    deliverPending()
    plan()
    return true
  }

  private func adopted(_ result: SignedIn, on lane: Lane) {
    lane.supply = result.supply
    lane.isUntried = result.prepared != nil
    if result.prepared == nil { lane.isVerified = result.isTold }
    if let connection = result.connection { keep(connection, for: lane) }
  }

  /// Removes the throttle that the former user's renewals caused: no request was made for the next user yet.
  private func forgetThrottle(of lane: Lane) {
    guard lane.recovery.endedAt != nil || lane.recovery.probedAt != nil else { return }
    lane.recovery = lane.recovery.ofNextUser(now)
    environment.bridge.reset(bridgeKey(lane.service))
  }

  private func rememberRecovery(
    _ next: AuthenticationMachine, _ actions: [Action], on lane: Lane, after input: Input
  ) {
    if !lane.machine.isRecovering, next.isRecovering {
      lane.recovery.trigger = EndedRenewal.Trigger(input) ?? lane.recovery.trigger ?? .call
    }
    guard lane.machine.isRecovering, !next.isRecovering else { return }
    environment.onRenewal(
      EndedRenewal(kind: kind, trigger: lane.recovery.trigger ?? .call, outcome: EndedRenewal.Outcome(actions)))
    lane.recovery.trigger = nil
    lane.isUntried = false
    var failure: SDKError?
    for case .announce(.refreshFailed(let error)) in actions { failure = error }
    for case .finish(.failed(let error)) in actions { failure = error }
    lane.recovery.wasLogin = next.hasIdentity && !lane.machine.hasIdentity
    lane.recovery.end(now, failure: failure, random: environment.clock.random())
  }

  var superseded: SDKError {
    SDKError(.state, .superseded, "A newer login or logout took this one's place; read the state again.", instance: id)
  }

  /// Fails the callers of a change that could not be stored, and leaves the identity in memory unchanged. A wipe that
  /// could not be stored locks the lane.
  private func storeFailed(
    _ error: SDKError, actions: [Action], on lane: Lane, begun: Progress?, isKnownToVendor: Bool
  ) {
    logger.error("A change could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    if actions.contains(.wipe) { _ = lane.machine.apply(.wipeFailed) } else { lane.machine.rest() }
    var failure = error.about(id)
    if isKnownToVendor, actions.contains(.wipe) {
      failure.message =
        "The vendor has ended the session, but that could not be stored, and \(id) is locked; make room on the disk or "
        + "repair it, and log out again."
    }
    begun?.outcome.resolve(.success(.failed(failure)))
    if let progress = lane.progress, progress.outcome !== begun?.outcome {
      progress.outcome.resolve(.success(.failed(failure)))
    }
    lane.progress = nil
    publish()
    plan()
  }

  /// Commits a draft, if it is durable, and takes its state over into memory.
  private func commit(_ draft: Draft, on lane: Lane) async throws(SDKError) -> CommitResult {
    guard draft.isDurable else { return CommitResult() }
    let done = try await store(draft.change, record: draft.record, on: lane, raisedBy: draft.raise)
    if let wiped = done.wiped { lane.progress?.wiped.set(wiped) }
    if let wiped = done.wiped { draft.progress?.wiped.set(wiped) }
    pushes = draft.pushes
    deliveries = draft.deliveries
    noteGivenUp(draft.givenUp)
    return done
  }

  /// Commits a change together with a lane's identity.
  func store(
    _ change: InstanceChange, record: IdentityRecord, on lane: Lane, raisedBy raise: UInt64
  ) async throws(SDKError) -> CommitResult {
    var change = change
    let records = lanes.map { ($0.service, Self.durable($0 === lane ? record : $0.identity, of: adapter)) }
    guard let json = try? StoredIdentities.json(records) else {
      throw SDKError(.store, .storeUnavailable, "The identity can't be written.", instance: id)
    }
    // The identity comes directly after a wipe, before the other parts that the change writes.
    let place = change.parts.firstIndex { if case .wipe = $0 { true } else { false } }.map { $0 + 1 } ?? 0
    change.parts.insert(.identify(json), at: place)
    let epoch = durableEpoch + raise
    if raise > 0 { change.parts.append(.raiseEpoch(to: epoch)) }
    let done = try await commit(change)
    durableEpoch = epoch
    lane.storedEpoch += raise
    lane.identity = record
    if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
    if let unfinished = done.unfinished {
      logger.error("A wipe is not finished: \(unfinished.message)", metadata: ["reason": "\(unfinished.reason)"])
    }
    return done
  }

  /// Returns the identity as it goes to disk: an empty one if the kind keeps identities in memory only.
  static func durable(_ record: IdentityRecord, of adapter: any SDKAdapter) -> IdentityRecord {
    adapter.traits.persistsIdentity ? record : .nobody(record.phase == .loggedOut ? .loggedOut : .noUser)
  }

  /// Returns a change of this instance that fails unless the epoch on disk is the present one.
  func newChange(parts: [InstanceChange.Part] = [], events: [InstanceChange.NewEvent] = []) -> InstanceChange {
    InstanceChange(uuid: uuid, id: id, kind: kind, expectedEpoch: durableEpoch, parts: parts, events: events)
  }

  /// Commits the event of a notice alone, such as a refusal by the local checks. Its error becomes `lastError`.
  func announce(_ notice: AuthenticationMachine.Notice, on lane: Lane, operation: String? = nil) async {
    var record = lane.identity
    if let error = notice.failure { record.lastError = lastError(error) }
    var change = newChange()
    if isNews(notice, on: lane) {
      var event = event(notice, on: lane, result: nil)
      event.operation = operation
      change.events.append(event)
    }
    do throws(SDKError) {
      let told = try await store(change, record: record, on: lane, raisedBy: 0).events
      publish()
      environment.events.append(told)
    } catch {
      logger.error("An event could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
  }

  func lastError(_ error: SDKError) -> Instance.LastError {
    Instance.LastError(reason: error.reason, message: error.message, at: now)
  }

  private func note(_ actions: [Action], on lane: Lane) {
    for case .announce(let notice) in actions {
      let level: Logger.Level = notice.failure == nil ? .info : .warning
      var metadata = Self.metadata(notice.type)
      if let service = lane.service { metadata["service"] = "\(service)" }
      if let reason = notice.failure?.reason { metadata["reason"] = "\(reason)" }
      if case .tokenRefreshed = notice, let fresh = lane.identity.credential {
        metadata["tokenId"] = "\(fresh.tokenId)"
      }
      logger.log(level: level, "\(notice.sentence)", metadata: metadata)
    }
  }

  private static func metadata(_ type: EventType) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["event": "\(type.rawValue)"]
    if let message = JournalMessage(type) { metadata["messageID"] = "\(message.id)" }
    return metadata
  }

  /// Emits an event that changes no state of the instance, such as a breaker that opened.
  public func announce(_ type: EventType) async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted else { return }
    do throws(SDKError) {
      let change = InstanceChange(uuid: uuid, id: id, kind: kind, events: [.init(type)])
      environment.events.append(try await commit(change).events)
    } catch {
      logger.error("An event could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
  }

  /// Logs and emits that the bridge's breaker has opened or closed.
  public func breakerChanged(isOpen: Bool) async {
    let type = isOpen ? EventType.breakerOpened : .breakerClosed
    logger.log(
      level: isOpen ? .warning : .info,
      isOpen ? "The token provider fails; it is left alone for a while." : "The token provider answers again.",
      metadata: Self.metadata(type))
    await announce(type)
  }
}

extension AuthenticationMachine.Action {
  /// Returns the action. A `finish` becomes a failure with `error` if the commit left work undone, so that callers get
  /// it.
  fileprivate func ended(unfinished error: SDKError?) -> Self {
    if case .finish = self, let error { .finish(.failed(error)) } else { self }
  }
}
