import Concurrency
import Logging
import SDKProtocol
import StateStore

/// The scheduling of the instance's deadline, and the work that is due then.
extension InstanceActor {
  /// Sets the single deadline of this instance to the earliest of these: the next renewal, the end of a credential, the
  /// retry of a connection or of a wipe, the next delivery.
  func plan() {
    let now = environment.clock.now()
    var times = [core.isDeleted ? nil : core.nextDelivery(now)]
    for state in core.services {
      let context = context(of: state.service)
      times.append(reserve(core.nextDeadline(of: state, context), of: state, context))
      // The outcome of a logout decides whether a connection is still wanted.
      if state.machine.activity != .signingOut, !core.isDeleted {
        times.append(state.connection.nextAttempt(now))
      }
      if state.machine.hasFailedWipe, state.machine.activity == .idle, !core.isDeleted { times.append(now) }
    }
    guard let next = times.compactMap({ $0 }).min() else {
      return environment.deadlines.set(uuid.description, at: nil) {}
    }
    // Unless the clock was set back meanwhile.
    let held = heldUntil.flatMap { (0...Self.pauseAfterFailure).contains($0 - now) ? $0 : nil }
    let time = held.map { max($0, next) } ?? next
    let operations = environment.operations
    environment.deadlines.set(uuid.description, at: time) { operations.startDue { await self.deadlineReached() } }
  }

  /// Reserves the next renewal of a service in the schedule of all renewals, or releases its reservation.
  ///
  /// - Returns: the time of the deadline.
  private func reserve(_ deadline: NextDeadline, of state: ServiceState, _ context: StepContext) -> Timestamp? {
    var state = state
    if case .renewal(let request) = deadline {
      state.reservation = environment.renewals.place(request, former: state.reservation, now: context.now)
    } else {
      environment.renewals.release(state.reservation)
      state.reservation = nil
    }
    keep(state.reservation, of: state.service)
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
      if core[service]?.machine.hasFailedWipe == true {
        await follow(service) { $0.repeatWipe(on: service, $1) }
      }
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

  /// Resumes the instance after a start of the daemon: handles what expired, was interrupted or became due while the
  /// daemon was not running.
  ///
  /// - Parameter awaitsEnds: called if a credential has expired and can't be renewed. When it returns `false`, that is
  ///   stored later, as for credentials that expire together while the daemon runs.
  func resume(awaitsEnds: @Sendable () -> Bool = { true }) async {
    await changing.lock()
    defer { changing.unlock() }
    if !core.adapter.traits.persistsIdentity { await wipeUnkept() }
    let services = core.services.map(\.service)
    for service in services where core[service]?.machine.waitsForTheClock == true {
      await follow(service) { $0.noticeExpiry(on: service, $1) }
    }
    if services.contains(where: { core.hasEnded(on: $0, context(of: $0)) }) {
      if awaitsEnds() { await storeEnds() } else { environment.operations.startDue { await self.endsReached() } }
    }
    // A start makes no step that most instances don't need: each takes a copy of the state and a comparison.
    for service in services where core[service]?.isInterrupted == true {
      await follow(service) { $0.resumeInterrupted(on: service, $1) }
    }
    for service in services where core[service].map(core.wantsConnection) == true {
      await follow(service) { $0.keepConnection(of: service, $1) }
    }
    if !core.deliveries.isEmpty { await follow(nil) { Step(effects: $0.startDeliveries($1)) } }
    publish()
    plan()
  }

  private func endsReached() async {
    await changing.lock()
    defer { changing.unlock() }
    await storeEnds()
    plan()
  }

  /// Stores that credentials had expired when the daemon started.
  private func storeEnds() async {
    for service in core.services.map(\.service) { await follow(service) { $0.resumeExpired(on: service, $1) } }
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
