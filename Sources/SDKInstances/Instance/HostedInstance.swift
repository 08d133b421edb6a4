import Concurrency
import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// An instance and its state, which no other object holds, so that instances can't affect each other.
///
/// `InstanceCore` decides; this actor makes its steps one after another. A step is made on a copy of the state. The
/// change is committed first, then the copy is adopted and published, then the effects begin. Work at the vendor or the
/// bridge runs in `Operations`, and its result carries the epoch in which it began.
public actor HostedInstance {
  /// The permanent identifier of the instance.
  public nonisolated let uuid: InstanceUUID
  /// The name of the instance.
  public nonisolated let id: InstanceID
  /// The kind of SDK.
  public nonisolated let kind: KindName
  /// The time at which the instance was created.
  public nonisolated let createdAt: Timestamp
  nonisolated let environment: InstanceEnvironment
  /// The clock of the vendor.
  nonisolated let vendorClock: VendorClock
  nonisolated let logger: Logger
  nonisolated let published: Mutex<Published>

  /// The state. It changes only while `changing` is locked.
  private(set) var core: InstanceCore
  /// The outcomes of activities for which callers wait.
  var outcomes: [ActivityID: PendingOutcome] = [:]
  /// The demand for a response of the bridge, by service.
  var demands: [String?: Need] = [:]
  /// The open realtime connections, by service.
  var connections: [String?: any RealtimeConnection] = [:]
  /// The first probes in progress, by service, of credentials from before this process.
  var verifications: [String?: Promise<Void>] = [:]

  /// Locked during each change of the instance, so that changes happen one after another. Who holds it waits for the
  /// store only.
  nonisolated let changing = AsyncMutex()
  /// The time before which no deadline is served, because a change could not be stored. Otherwise a full disk would
  /// keep the daemon busy.
  private var heldUntil: Timestamp?
  /// The seconds until a deadline is served after a change could not be stored.
  private static let pauseAfterFailure = 5.0
  /// The number of commits in progress.
  private var commits = 0

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
    var logger = environment.logger
    logger[metadataKey: "instance"] = "\(stored.id)"
    logger[metadataKey: "kind"] = "\(definition.kind)"
    self.logger = logger
    if core.deliveries.count < stored.outbox.count {
      logger.error(
        "\(stored.outbox.count - core.deliveries.count) deliveries to the vendor can't be read and are not made.")
    }
    published = Mutex(Published(definition: definition, storageEpoch: stored.clientStorageEpoch))
  }

  // MARK: Steps

  /// Makes a step as a change of its own.
  ///
  /// - Parameters:
  ///   - service: the service whose bridge and delegates the step may depend on.
  ///   - make: changes the copy of the state. If it throws, nothing has changed.
  /// - Throws: the errors of `make`; the error of a change that could not be stored, if no activity ends with it.
  @discardableResult
  func change<Value>(
    _ service: String?, _ make: (inout InstanceCore, StepContext) throws -> (step: Step, value: Value)
  ) async throws -> Value {
    await changing.lock()
    defer { changing.unlock() }
    return try await perform(service, make)
  }

  /// Makes a step while `changing` is locked.
  @discardableResult
  func perform<Value>(
    _ service: String?, _ make: (inout InstanceCore, StepContext) throws -> (step: Step, value: Value)
  ) async throws -> Value {
    var next = core
    let (step, value) = try make(&next, context(of: service))
    if let error = await adopt(next, step).end.error { throw error.about(id) }
    return value
  }

  /// Makes a step for which no caller waits, as a change of its own. A change that can't be stored is logged.
  func step(_ service: String?, _ make: (inout InstanceCore, StepContext) -> Step) async {
    await changing.lock()
    defer { changing.unlock() }
    await follow(service, make)
  }

  /// Makes a step for which no caller waits, while `changing` is locked.
  ///
  /// - Returns: the end of the step.
  @discardableResult
  func follow(_ service: String?, _ make: (inout InstanceCore, StepContext) -> Step) async -> SettledStep {
    var next = core
    let step = make(&next, context(of: service))
    return await adopt(next, step).end
  }

  /// Commits a step's change, adopts the state after it, publishes that, and begins the effects.
  ///
  /// - Returns: the end of the step; the error of cleanup that is left to be done on the disk.
  @discardableResult
  func adopt(_ next: InstanceCore, _ step: Step) async -> (end: SettledStep, unfinished: SDKError?) {
    var commit = Result<CommitResult, SDKError>.success(CommitResult())
    do throws(SDKError) {
      if let error = step.error { throw error }
      if let change = step.change {
        commit = .success(try await self.commit(change))
        heldUntil = nil
      }
    } catch {
      heldUntil = environment.clock.now() + Self.pauseAfterFailure
      logger.error("A change could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
      commit = .failure(error)
    }
    let done = (try? commit.get()) ?? CommitResult()
    if let wiped = done.wiped { for activity in step.wiping { outcomes[activity]?.wiped.set(wiped) } }
    if let unfinished = done.unfinished {
      logger.error("A wipe is not finished: \(unfinished.message)", metadata: ["reason": "\(unfinished.reason)"])
    }
    let former = core
    let end = core.settle(step, to: next, commit)
    let isSeen = core.isSeenOtherwise(than: former)
    if isSeen { publish() }
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

  /// Returns the facts from outside for a step of a service.
  func context(of service: String?) -> StepContext {
    let key = bridgeKey(service)
    return StepContext(
      now: environment.clock.now(), vendorAhead: vendorClock.correction, random: environment.clock.random(),
      hasDelegate: environment.bridge.hasDelegate(key),
      nextProviderAttempt: environment.bridge.status(of: key).nextAttemptAt)
  }

  /// Returns the bridge's key for a service.
  nonisolated func bridgeKey(_ service: String?) -> BridgeKey {
    BridgeKey(instance: uuid.description, service: service)
  }

  /// The vendor's clock, for checks by the kind itself.
  public nonisolated var wallClock: WallClock { vendorClock.wallClock }

  /// Returns as soon as no change is in progress, or one waits for the store, or the task is cancelled: the health probe
  /// of the watchdog, which probes the store by itself.
  public func answer() async {
    while changing.isLocked, commits == 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(20)) }
  }

  #if DEBUG
    /// Runs `body` on the actor.
    public func run(_ body: @Sendable () -> Void) { body() }
  #endif

  // MARK: Outcomes

  /// Returns the outcome of an activity in progress. Call it before the activity can end.
  func outcome(of activity: ActivityID) -> PendingOutcome {
    if let known = outcomes[activity] { return known }
    let new = PendingOutcome()
    outcomes[activity] = new
    return new
  }

  // MARK: The schedule

  /// Sets the single deadline of this instance to the earliest of these: the next renewal, the end of a credential, the
  /// retry of a connection, the next delivery.
  func plan() {
    var times = [core.isDeleted ? nil : core.nextDelivery]
    for state in core.services {
      let context = context(of: state.service)
      times.append(reserve(core.nextDeadline(of: state, context), of: state, context))
      // The outcome of a logout decides whether a connection is still wanted.
      if state.machine.activity != .signingOut, !core.isDeleted { times.append(state.connection.retryAt) }
    }
    guard let next = times.compactMap({ $0 }).min() else {
      return environment.deadlines.set(uuid.description, at: nil) {}
    }
    let now = environment.clock.now()
    // Unless the clock was set back meanwhile.
    let held = heldUntil.flatMap { (0...Self.pauseAfterFailure).contains($0 - now) ? $0 : nil }
    let time = held.map { max($0, next) } ?? next
    let operations = environment.operations
    environment.deadlines.set(uuid.description, at: time) { operations.start { await self.deadlineReached() } }
  }

  /// Reserves the next renewal of a service in the schedule of all renewals, or releases its reservation.
  ///
  /// - Returns: the time of the deadline.
  @discardableResult
  private func reserve(_ deadline: NextDeadline, of state: ServiceState, _ context: StepContext) -> Timestamp? {
    var state = state
    if case .renewal(let request) = deadline {
      state.reservation = environment.renewals.place(request, former: state.reservation, now: context.now)
    } else {
      environment.renewals.release(state.reservation)
      state.reservation = nil
    }
    core[state.service]?.reservation = state.reservation
    return state.nextStart(of: deadline, context)
  }

  /// Sets the deadline again, because the renewal schedule has changed.
  func replan() async {
    await changing.lock()
    defer { changing.unlock() }
    plan()
  }

  /// Does all work that is due. Called at the deadline, and after the clock was set.
  func deadlineReached() async {
    await changing.lock()
    defer { changing.unlock() }
    for service in core.services.map(\.service) {
      if core[service]?.machine.waitsForTheClock == true {
        await follow(service) { $0.noticeExpiry(on: service, $1) }
      }
      await follow(service) { $0.keepConnection(of: service, $1) }
      plan()
      await follow(service) { $0.deadlineReached(on: service, $1) }
    }
    await follow(nil) { Step(effects: $0.startDeliveries($1)) }
    plan()
  }

  /// Continues after a start: handles what expired, was interrupted or became due while the process was not running.
  func resume() async {
    await changing.lock()
    defer { changing.unlock() }
    if !core.adapter.traits.persistsIdentity { await wipeUnkept() }
    let services = core.services.map(\.service)
    for service in services where core[service]?.machine.waitsForTheClock == true {
      await follow(service) { $0.noticeExpiry(on: service, $1) }
    }
    for service in services { await follow(service) { $0.resumeExpired(on: service, $1) } }
    for service in services { await follow(service) { $0.resumeInterrupted(on: service, $1) } }
    for service in services { await follow(service) { $0.keepConnection(of: service, $1) } }
    await follow(nil) { Step(effects: $0.startDeliveries($1)) }
    publish()
    plan()
  }

  private func wipeUnkept() async {
    do throws(SDKError) {
      let keys = try await environment.store.storageKeys(of: uuid)
      await follow(nil) { core, _ in core.wipeUnkept(hasValues: !keys.isEmpty) }
    } catch {
      logger.error(
        "What a former user left could not be wiped: \(error.message)", metadata: ["reason": "\(error.reason)"])
      await follow(nil) { $0.apply(.wipeFailed, on: $0.services.first?.service, $1) }
    }
  }
}

/// The outcome of an activity, for the callers that wait for it.
final class PendingOutcome: Sendable {
  let outcome = Promise<AuthenticationMachine.Outcome>()
  /// The counts of what the activity's commits wiped.
  let wiped = WipeCounts()

  /// Waits for the end of the activity.
  ///
  /// - Throws: `superseded` when a newer activity took its place.
  func value() async throws -> AuthenticationMachine.Outcome { try await outcome.value() }
}

/// The counts of what an activity wiped, for the caller's answer.
final class WipeCounts: Sendable {
  private let counts = Mutex<CommitResult.Wiped?>(nil)

  var value: CommitResult.Wiped? { counts.withLock { $0 } }

  func set(_ wiped: CommitResult.Wiped) { counts.withLock { $0 = wiped } }
}
