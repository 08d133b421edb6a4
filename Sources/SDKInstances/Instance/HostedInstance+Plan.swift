import Concurrency
import DelegateBridge
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Sets the single deadline of this instance to the earliest of these: the next renewal, the end of a credential, the
  /// retry of a connection, the next delivery.
  func plan() {
    guard !isDeleted else {
      for lane in lanes { forgetPlace(of: lane) }
      return environment.deadlines.set(uuid.description, at: nil) {}
    }
    let times = lanes.flatMap { [nextDeadline($0), nextConnection($0)] } + [nextDelivery()]
    guard let time = times.compactMap({ $0 }).min() else {
      return environment.deadlines.set(uuid.description, at: nil) {}
    }
    let operations = environment.operations
    environment.deadlines.set(uuid.description, at: time) { operations.start { await self.deadlineReached() } }
  }

  /// Continues after a start: handles what expired, was interrupted or became due while the process was not running.
  func resume() async {
    await changing.lock()
    defer { changing.unlock() }
    await wipeUnkept()
    for lane in lanes where lane.machine.waitsForTheClock { await noticeExpiry(lane) }
    for lane in lanes where lane.machine.phase == .authenticated && lane.machine.standing == .expired {
      let means = means(lane)
      guard means.isNone || adapter.traits.policy.onNoMeans == .fallBack && !means.bridge else { continue }
      lane.machine.standing = .usable
      await take(.expired(means: means), on: lane)
    }
    for lane in lanes where lane.isInterrupted && lane.machine.activity == .idle {
      // One attempt with the old token shows whether it was spent.
      lane.recovery.trigger = .restart
      await take(.renew(means(lane)), on: lane)
    }
    publish()
    for lane in lanes { keepConnection(of: lane) }
    deliverPending()
    plan()
  }

  /// Sets the deadline again, because the renewal schedule has changed.
  func replan() async {
    await changing.lock()
    defer { changing.unlock() }
    plan()
  }

  /// Returns the time of the next renewal of a lane, or of its credential's end, and keeps a reservation for a renewal
  /// that is due later.
  private func nextDeadline(_ lane: Lane) -> Timestamp? {
    guard lane.machine.activity == .idle else { return nil }
    let end = lane.identity.credential?.expiresAt.map(vendorClock.ours)
    let isUsable = lane.machine.phase == .authenticated && lane.machine.standing == .usable
    guard let request = nextRenewal(lane, endingAt: end) else {
      forgetPlace(of: lane)
      return isUsable && means(lane).isNone ? end : nil
    }
    let place = place(request, of: lane)
    guard isUsable, let end, !waitsPastTheEnd(place, on: lane) else { return place.start }
    return min(place.start, end)
  }

  /// Returns the next renewal ahead of time; `nil` if there is none.
  private func nextRenewal(_ lane: Lane, endingAt end: Timestamp?) -> RenewalRequest? {
    guard let credential = lane.identity.credential, adapter.traits.common.planner.mode == .eager,
      !means(lane).isNone
    else { return nil }
    switch lane.machine.phase {
    case .authenticated:
      guard let end else { return nil }
      return lane.machine.standing == .usable
        ? renewal(of: credential, endingAt: end, on: lane) : retry(lane, end: nil)
    // A provider outage ends by itself. A renewal then signs the user in again before the next call.
    case .reauthNeeded: return retry(lane, end: nil)
    default: return nil
    }
  }

  /// Whether the renewal of a credential that has ended waits for its late reservation, such as after the machine
  /// slept. Many credentials may have ended together, so their renewals are spread out. A call that needs the
  /// credential renews it at once.
  private func waitsPastTheEnd(_ place: RenewalPlace, on lane: Lane) -> Bool {
    place.isCatchingUp && lane.recovery.failure == nil && lane.identity.credential?.hasExpired(at: vendorNow) == true
  }

  private func renewal(of credential: Credential, endingAt end: Timestamp, on lane: Lane) -> RenewalRequest {
    let planner = adapter.traits.common.planner
    let random = lane.recovery.random
    let obtained = vendorClock.ours(credential.obtainedAt)
    let planned =
      planner.renewal(
        obtained: obtained, expires: end, lead: lane.recovery.answerTime.seconds ?? 0, random: random)
      ?? end
    if planned <= now, lane.recovery.failure != nil { return retry(lane, end: end) }
    return RenewalRequest(
      owner: definition.owner, latest: planned,
      earliest: planner.earliest(obtained: obtained, expires: end), end: end, random: random)
  }

  private func retry(_ lane: Lane, end: Timestamp?) -> RenewalRequest {
    let recovery = lane.recovery
    let breaker = environment.bridge.status(of: bridgeKey(lane.service)).nextAttemptAt
    let time = adapter.traits.common.planner.retry(
      after: recovery.endedAt ?? recovery.since ?? now, failures: recovery.failures, breaker: breaker, end: end,
      random: recovery.random)
    return RenewalRequest(owner: definition.owner, latest: time, earliest: time, end: end, random: recovery.random)
  }

  private func place(_ request: RenewalRequest, of lane: Lane) -> RenewalPlace {
    let place = environment.renewals.place(request, former: lane.place, now: now)
    lane.place = place
    return place
  }

  /// Releases the reservation of a lane's next renewal.
  func forgetPlace(of lane: Lane) {
    environment.renewals.release(lane.place)
    lane.place = nil
  }

  /// Does all work that is due. Called at the deadline, and after the clock was set.
  func deadlineReached() async {
    await changing.lock()
    defer { changing.unlock() }
    guard !isDeleted else { return }
    for lane in lanes {
      if lane.machine.waitsForTheClock { await noticeExpiry(lane) }
      keepConnection(of: lane)
      guard lane.machine.activity == .idle else { continue }
      let means = means(lane)
      let next = nextDeadline(lane)
      if lane.machine.standing == .usable, lane.identity.credential?.hasExpired(at: vendorNow) == true {
        if let next, next > now, let place = lane.place, waitsPastTheEnd(place, on: lane) { continue }
        await take(.expired(means: means), on: lane)
      } else if let next, next <= now, !means.isNone {
        lane.recovery.trigger = .plan
        await take(.renew(means), on: lane)
      }
    }
    deliverPending()
    plan()
  }
}
