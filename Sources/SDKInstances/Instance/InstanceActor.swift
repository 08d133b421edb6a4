import Concurrency
import DelegateBridge
import JSONRPC
import Logging
import SDKProtocol
import StateStore
import Synchronization

/// The owner of an instance's state. No other object holds that state, so instances can't affect each other.
///
/// `InstanceCore` decides; this actor makes its steps one after another. A step is made on a copy of the state. The
/// change is committed first, then the copy is taken over and published, then the effects begin. Work at the vendor or
/// the bridge runs in `Operations`, and its result carries the epoch in which it began.
///
/// A call makes its step with `change`, or with `changeUser` if it changes the user; a result and a timer make theirs
/// with `step`. A function that makes several steps locks `changing`, and uses `perform` for a call and `follow` for the
/// others.
actor InstanceActor {
  nonisolated let uuid: InstanceUUID
  nonisolated let id: InstanceID
  nonisolated let kind: KindName
  nonisolated let createdAt: Timestamp
  nonisolated let environment: InstanceEnvironment
  nonisolated let vendorClock: VendorClock
  nonisolated let logger: Logger
  nonisolated let published: Mutex<Published>
  /// The access rules, ready for look-ups.
  nonisolated let roles = Mutex(Roles())

  /// The state. It changes only while `changing` is locked.
  private(set) var core: InstanceCore
  /// The outcomes of activities for which callers wait.
  var outcomes: [ActivityID: PendingOutcome] = [:]
  /// The demands for responses of the bridge, by service.
  var demands: [String?: Need] = [:]
  /// The open realtime connections, by service.
  var connections: [String?: any RealtimeConnection] = [:]
  /// The first probes in progress, by service, of credentials that were stored before this process started.
  var verifications: [String?: Promise<Void>] = [:]

  /// The number of logins that have not ended at the vendor, by service, with those being undone.
  var logins: [String?: Int] = [:]
  /// The requests in progress that end a user's session at the vendor.
  var sessionEnds: [SessionEnd] = []
  /// The requests in progress that open a realtime connection: attempts to connect, and renewals.
  var openings: [(service: String?, end: Promise<Void>)] = []
  /// The requests to the owner in progress for the data of a login, by service.
  var ownerRequests: [String?: OwnerRequest] = [:]

  /// Locked during a change of the push registrations, which waits for the vendor.
  nonisolated let registering = AsyncMutex()
  /// Locked during each change of the instance, so that changes happen one after another. While it is locked, the
  /// change waits for nothing but the store.
  nonisolated let changing = AsyncMutex()
  /// The time before which no deadline is handled, because a change could not be stored. Otherwise a full disk would
  /// keep the daemon busy. `nil` without such a failure.
  private(set) var heldUntil: Timestamp?
  /// The seconds until deadlines are handled again after a change could not be stored.
  static let pauseAfterFailure = 5.0
  /// The number of commits and notes in progress, for which a change waits.
  private var commits = 0
  /// The failed wipes that the store has noted; `nil` if that is unknown, because they could not be noted.
  private var notedWipes: [String: UInt64]?

  /// Creates an instance from its stored form.
  init(
    stored: StoredInstance, definition: Definition, adapter: any SDKAdapter, provider: ProviderConfiguration?,
    environment: InstanceEnvironment
  ) throws {
    uuid = stored.uuid
    id = stored.id
    kind = definition.kind
    createdAt = stored.createdAt
    self.environment = environment
    vendorClock = environment.vendorClocks.clock(of: stored.uuid)
    let core = try InstanceCore(
      stored, definition: definition, adapter: adapter, provider: provider, now: environment.clock.now(),
      random: environment.clock.random)
    self.core = core
    notedWipes = Dictionary(stored.failedWipes.map { ($0, stored.storageEpoch) }) { first, _ in first }
    var logger = environment.logger
    logger[metadataKey: "instance"] = "\(stored.id)"
    logger[metadataKey: "kind"] = "\(definition.kind)"
    self.logger = logger
    if core.deliveries.count < stored.outbox.count {
      logger.error(
        "\(stored.outbox.count - core.deliveries.count) deliveries to the vendor can't be read and are not made.")
    }
    published = Mutex(Published(core))
    vendorClock.observe { [logger] seconds in
      logger.notice(
        seconds == 0
          ? "By the vendor's responses its clock no longer differs from this machine's."
          : "By the vendor's responses its clock is \(VendorClock.words(seconds)). If this machine's is wrong, set it.")
    }
  }

  // MARK: Steps

  /// Makes one step: changes the state with `make`, commits the change, and begins the effects.
  ///
  /// - Parameters:
  ///   - service: the service whose bridge and delegates the step may depend on.
  ///   - make: changes the copy of the state. If it throws, nothing has changed.
  /// - Returns: the outcome of the activity that the step has begun or found, if there is one to wait for.
  /// - Throws: the errors of `make`; the error of a change that could not be stored, if no activity ends with it.
  @discardableResult
  func change(
    _ service: String?, _ make: @Sendable (inout InstanceCore, StepContext) throws -> Step
  ) async throws -> PendingOutcome? {
    try await change(service) { (try make(&$0, $1), ()) }.pending
  }

  /// Makes one step like the function above, and also returns the value that `make` returned.
  func change<Value: Sendable>(
    _ service: String?, _ make: @Sendable (inout InstanceCore, StepContext) throws -> (step: Step, value: Value)
  ) async throws -> (value: Value, pending: PendingOutcome?) {
    await changing.lock()
    defer { changing.unlock() }
    return try await perform(service, make)
  }

  /// Makes a step that changes the user, after the end of a logout in progress.
  ///
  /// - Parameters:
  ///   - service: the service as the caller names it.
  ///   - isLogin: whether the step begins a login.
  ///   - make: as for `change`, with the name of the service that the caller means.
  /// - Throws: also `timeout` when the logout has not ended within the instance's `timeout`, and `rateLimit` for a login
  ///   while too many have not ended; nothing has changed then.
  func changeUser<Value: Sendable>(
    of service: String?, isLogin: Bool = false,
    _ make: @Sendable (inout InstanceCore, _ service: String?, StepContext) throws -> (step: Step, value: Value)
  ) async throws -> (value: Value, pending: PendingOutcome?) {
    try await lock { try $0.existing(try resolve(service)) }
    defer { changing.unlock() }
    let name = try resolve(service)
    if isLogin { try checkLogins(on: name) }
    return try await perform(name) { try make(&$0, name, $1) }
  }

  /// Returns the name of the service that a call is about; `nil` for kinds without services. `service` is the name in
  /// the call, which may omit it if only one service is possible.
  nonisolated func resolve(_ service: String?) throws -> String? {
    try published.withLock { try $0.resolve(service, of: id) }
  }

  /// The seconds to wait beyond the instance's `timeout`, so that a logout that times out can store its failure.
  private static let grace = 2.0

  /// Locks `changing`, after the end of the logout in progress on the service that `barrier` returns. The caller
  /// unlocks it.
  ///
  /// - Parameter barrier: is called again after each wait. There is nothing to wait for when it throws.
  private func lock(after barrier: (InstanceCore) throws -> ServiceState?) async throws {
    let end = ContinuousClock.now + .seconds(core.adapter.traits.common.timeout + Self.grace)
    await changing.lock()
    while let state = try? barrier(core), state.machine.isSigningOut, let activity = state.running {
      let logout = outcome(of: activity.id)
      changing.unlock()
      let left = max(0, (end - ContinuousClock.now) / .seconds(1))
      do {
        _ = try await logout.value(within: left, of: id, lacking: "The logout that came before has not ended")
      } catch let error as SDKError where error.reason == .superseded {}
      // The change has not begun, so the next daemon can make it.
      try environment.operations.drain.check()
      await changing.lock()
    }
  }

  /// Makes the step of a call while `changing` is locked.
  private func perform<Value>(
    _ service: String?, _ make: (inout InstanceCore, StepContext) throws -> (step: Step, value: Value)
  ) async throws -> (value: Value, pending: PendingOutcome?) {
    var next = core
    let (step, value) = try make(&next, context(of: service))
    // Before the step, because the activity may end with it.
    let pending = step.awaited.map(outcome(of:))
    if let error = await carryOut(step, to: next, isDemanded: true).end.error { throw error.about(id) }
    return (value, pending)
  }

  /// Makes one step for which no caller waits. If its change can't be stored, the error is logged.
  func step(_ service: String?, _ make: @Sendable (inout InstanceCore, StepContext) -> Step) async {
    await changing.lock()
    defer { changing.unlock() }
    await follow(service, make)
  }

  /// Makes a step for which no caller waits, while `changing` is locked.
  ///
  /// - Returns: the settled step.
  @discardableResult
  func follow(_ service: String?, _ make: (inout InstanceCore, StepContext) -> Step) async -> SettledStep {
    var next = core
    let step = make(&next, context(of: service))
    return await carryOut(step, to: next).end
  }

  /// Commits a step's change, takes the state after it over, publishes that, and begins the effects.
  ///
  /// - Parameters:
  ///   - isDemanded: whether a caller gets the step's error.
  ///   - beforeEvents: called after a successful step, before its events are emitted.
  /// - Returns: the settled step; the error of cleanup that is left to be done on the disk.
  @discardableResult
  private func carryOut(
    _ step: Step, to next: InstanceCore, isDemanded: Bool = false, beforeEvents: @Sendable () -> Void = {}
  ) async -> (end: SettledStep, unfinished: SDKError?) {
    var commit = Result<CommitResult, SDKError>.success(CommitResult())
    do throws(SDKError) {
      if let error = step.error { throw error }
      if var change = step.change {
        change.isDemanded = isDemanded
        // Readers of events can see the change before it is acknowledged, because that waits until its keys are gone from
        // the backups.
        if change.destroysIdentity {
          published.withLock { $0.withholdTokens() }
          // The change raises the storage epoch. A crash after it must not make the notes of other services obsolete.
          await note(core.failedWipes(remainingAfter: next))
        }
        commit = .success(try await self.commit(change))
        heldUntil = nil
      }
    } catch {
      commit = .failure(error)
      // Another error concerns only a caller, such as `storageFull`.
      if error.origin == .store || !isDemanded {
        // Repeated attempts on a full disk must not fill the journal.
        logger.log(
          level: heldUntil == nil ? .error : .debug, "A change could not be stored: \(error.message)",
          metadata: ["reason": "\(error.reason)"])
        heldUntil = environment.clock.now() + Self.pauseAfterFailure
      }
    }
    let done = (try? commit.get()) ?? CommitResult()
    if let wiped = done.wiped { for activity in step.wiping { outcomes[activity]?.wiped.set(wiped) } }
    if let unfinished = done.unfinished {
      logger.error("A wipe is not finished: \(unfinished.message)", metadata: ["reason": "\(unfinished.reason)"])
    }
    let former = core
    let end = core.settle(step, to: next, commit)
    let isSeen = core.isSeenOtherwise(than: former)
    // Also after a failure, because tokens may be withheld.
    if isSeen || step.change?.destroysIdentity == true { publish() }
    await note(core.failedWipes)
    if end.error == nil { beforeEvents() }
    // Emitted after publishing, so that observers of a logout can no longer read the former token.
    environment.events.append(done.events)
    for (service, effect) in end.effects { begin(effect, of: service, unfinished: done.unfinished) }
    let isNews = isSeen || step.change != nil || !end.effects.isEmpty
    if isNews || core.services.map(\.connection.retryAt) != former.services.map(\.connection.retryAt) { plan() }
    return (end, done.unfinished)
  }

  private func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    commits += 1
    defer { commits -= 1 }
    return try await environment.store.commit(change)
  }

  /// Notes on disk the wipes that could not be stored, so that a restart signs no user in who was signed out. Notes that
  /// could not be written are written again with the next step.
  private func note(_ failedWipes: [String: UInt64]) async {
    guard failedWipes != notedWipes else { return }
    commits += 1
    defer { commits -= 1 }
    do throws(SDKError) {
      try await environment.store.note(failedWipes: failedWipes, of: uuid)
      notedWipes = failedWipes
    } catch {
      let consequence =
        failedWipes.isEmpty
        ? "The note that this instance is locked is obsolete and could not be deleted"
        : "A restart would forget that this instance is locked"
      // Repeated attempts must not fill the journal.
      logger.log(
        level: notedWipes == nil ? .debug : .error, "\(consequence): \(error.message)",
        metadata: ["reason": "\(error.reason)"])
      notedWipes = nil
    }
  }

  /// Keeps the reservation of a service's next renewal, while `changing` is locked.
  func keep(_ reservation: RenewalPlace?, of service: String?) { core[service]?.reservation = reservation }

  /// Publishes the present state to readers.
  func publish() {
    let next = Published(core)
    let state = next.main.state
    let former = published.withLock { published in
      let (former, isListed) = (published.main.state, published.isListed)
      published = next
      published.isListed = isListed
      if isListed { environment.states.move(id, of: kind, from: former, to: state) }
      return former
    }
    if state != former { logger.debug("The state is \(state.rawValue); it was \(former.rawValue).") }
  }

  /// Notes that the instance was added to the registry, or removed from it.
  nonisolated func list(_ isListed: Bool) {
    published.withLock { published in
      guard published.isListed != isListed else { return }
      published.isListed = isListed
      let state = published.main.state
      environment.states.move(id, of: kind, from: isListed ? nil : state, to: isListed ? state : nil)
    }
    roles.withLock { roles in
      guard roles.isListed != isListed else { return }
      roles.isListed = isListed
      environment.roles.move(id, from: isListed ? nil : roles.table, to: isListed ? roles.table : nil)
    }
  }

  /// The access rules of an instance, ready for look-ups.
  struct Roles {
    /// The table; `nil` before the first look-up.
    var table: RoleTable?
    /// Whether the instance is in the registry, so that `RoleIndex` has its table.
    var isListed = false
  }

  /// Returns the external facts, such as the time, for a step of a service.
  func context(of service: String?) -> StepContext {
    let key = bridgeKey(service)
    let now = environment.clock.now()
    // Its own clock decides when the grace is over, perhaps a moment later.
    let graceEnd = environment.bridge.delegateGrace(key).map { now + $0 / .seconds(1) + 0.1 }
    return StepContext(
      now: now, vendorAhead: vendorClock.correction, random: environment.clock.random(),
      hasDelegate: environment.bridge.hasDelegate(key), delegateGraceEnd: graceEnd,
      nextProviderAttempt: environment.bridge.status(of: key).nextAttemptAt)
  }

  /// Returns the key by which the bridge identifies a service of this instance.
  nonisolated func bridgeKey(_ service: String?) -> BridgeKey {
    BridgeKey(instance: uuid.description, service: service)
  }

  /// Answers the watchdog's health probe. Returns when no change is in progress, when one waits for the store, or when
  /// the task is cancelled.
  func answer() async {
    while changing.isLocked, commits == 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
  }

  #if DEBUG
    /// Runs `body` on the actor.
    func run(_ body: @Sendable () -> Void) { body() }
  #endif

  // MARK: The definition

  /// Applies a changed definition. If it names another backend, the identity is wiped. Changed settings wait for a
  /// logout in progress, because they would end its connection or its user.
  ///
  /// - Throws: as `HostedInstance.redefine`.
  func redefine(_ change: @Sendable (Definition) throws -> InstanceCore.NewDefinition) async throws {
    try await lock { core in
      guard try change(core.definition).definition.settings != core.definition.settings else { return nil }
      return core.services.first { $0.machine.isSigningOut }
    }
    defer { changing.unlock() }
    try core.checkAlive()
    let new = try change(core.definition)
    guard new.definition != core.definition else { return }
    var next = core
    let step = try next.redefine(new, context: context(of:))
    let done = await carryOut(step, to: next, isDemanded: true)
    if let error = done.end.error { throw error.about(id) }
    if let unfinished = done.unfinished { throw unfinished.about(id) }
  }

  /// Destroys everything that the instance stores. Activities in progress fail with `instanceNotFound`.
  ///
  /// - Parameter beforeEvents: called when the instance is deleted, before the event that reports it is emitted.
  /// - Returns: the error of cleanup that is left to be done on the disk.
  func delete(beforeEvents: @Sendable () -> Void) async throws -> SDKError? {
    await changing.lock()
    defer { changing.unlock() }
    try core.checkAlive()
    var next = core
    let step = try next.delete()
    let done = await carryOut(step, to: next, isDemanded: true, beforeEvents: beforeEvents)
    if let error = done.end.error { throw error.about(id) }
    for service in core.services.map(\.service) { environment.bridge.forget(bridgeKey(service)) }
    return done.unfinished?.about(id)
  }

  // MARK: For callers

  /// The state of a service at one time, with its open connection.
  struct Snapshot: Sendable {
    var core: InstanceCore
    var state: ServiceState
    var context: StepContext
    var connection: (any RealtimeConnection)?

    var adapter: any SDKAdapter { core.adapter }
    var identity: IdentityRecord { state.identity }
    var epoch: UInt64 { state.machine.epoch }
  }

  /// Returns the present state of a service.
  ///
  /// - Throws: `instanceNotFound` for a deleted instance.
  func snapshot(of service: String?) throws(SDKError) -> Snapshot {
    Snapshot(
      core: core, state: try core.existing(service), context: context(of: service), connection: connections[service])
  }

  /// Returns the outcome of a service's activity in progress; `nil` if there is none, or `isMeant` returns `false`.
  func running(on service: String?, _ isMeant: @Sendable (ServiceState) -> Bool) throws(SDKError) -> PendingOutcome? {
    let state = try core.existing(service)
    guard let activity = state.running, isMeant(state) else { return nil }
    return outcome(of: activity.id)
  }

  /// Returns the token for a caller that needs one, or the outcome of the activity to wait for.
  func wanted(
    _ service: String?, _ demand: TokenDemand, isRenewed: Bool
  ) async throws -> (token: Token?, pending: PendingOutcome?) {
    await changing.lock()
    defer { changing.unlock() }
    await follow(service) { $0.noticeExpiry(on: service, $1) }
    let (token, pending) = try await perform(service) {
      try $0.wanted(demand, isRenewed: isRenewed, on: service, $1)
    }
    return (token, pending)
  }

  /// Handles an app's report that the vendor refused the token. Ignores a token that is not the present one.
  func reject(_ tokenId: TokenID, _ report: SDKError, on service: String?) async throws {
    await changing.lock()
    defer { changing.unlock() }
    let state = try core.existing(service)
    guard let token = state.identity.credential?.token, TokenID(token) == tokenId, state.machine.standing == .usable
    else { return }
    let report = report.without(SentSecrets([token]))
    logger.notice("An app reports that the vendor refused the token.", metadata: ["tokenId": "\(tokenId)"])
    await follow(service) { core, _ in core.reportNote(of: report, on: service) }
    await follow(service) { $0.reported(report, on: service, $1) }
    // A renewal that could not be stored has not begun, and left the token as it was.
    await follow(service) { $0.holdBack(tokenId, report, on: service, $1) }
  }

  /// Reports to the present and future callers of an activity that the next daemon has to begin it again, if the drain
  /// has begun. Not for a login, nor for an activity whose outcome is an event.
  func giveBack(_ activity: ActivityID?) {
    guard let activity, environment.operations.drain.hasBegun else { return }
    outcome(of: activity).resolve(.failure(SDKError.shuttingDown.about(id)))
  }

  /// Returns the outcome of an activity in progress. Call it before the activity can end.
  func outcome(of activity: ActivityID) -> PendingOutcome {
    if let known = outcomes[activity] { return known }
    let new = PendingOutcome()
    outcomes[activity] = new
    return new
  }
}
