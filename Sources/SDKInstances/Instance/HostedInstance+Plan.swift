import DelegateBridge
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Sets the one deadline of this instance: the next renewal ahead of time, the end of a credential, a connection
  /// or a delivery that is to be tried again.
  func plan() {
    let next = lanes.compactMap { [nextDeadline($0), nextConnection($0)].compactMap { $0 }.min() }.min()
    let times = [next, nextDelivery()].compactMap { $0 }
    guard !isDeleted, let time = times.min() else {
      environment.deadlines.set(uuid.description, at: nil) {}
      return
    }
    let operations = environment.operations
    environment.deadlines.set(uuid.description, at: time) { operations.start { await self.deadlineReached() } }
  }

  /// Takes up what the time that this process did not see has left to do.
  func resume() async {
    await enter()
    defer { leave() }
    await wipeUnkept()
    for lane in lanes where lane.machine.phase == .authenticated && lane.machine.standing == .expired {
      let means = means(lane)
      guard means.isNone || adapter.policy.onNoMeans == .fallBack && !means.bridge else { continue }
      lane.machine.standing = .usable
      await take(.expired(means: means), on: lane)
    }
    for lane in lanes where lane.isInterrupted && lane.machine.activity == .idle {
      // One attempt with the old token tells whether it was spent.
      await take(.renew(means(lane)), on: lane)
    }
    publish()
    for lane in lanes { keepConnection(of: lane) }
    deliverPending()
    plan()
  }

  private func nextDeadline(_ lane: Lane) -> Timestamp? {
    guard lane.machine.activity == .idle, let credential = lane.identity.credential else { return nil }
    let isEager = adapter.common.planner.mode == .eager
    let canRenew = !means(lane).isNone
    switch lane.machine.phase {
    case .authenticated:
      guard let end = credential.expiresAt else { return nil }
      guard canRenew else { return lane.machine.standing == .usable ? end : nil }
      guard isEager else { return nil }
      guard lane.machine.standing == .usable else { return retryTime(lane) }
      return plannedRenewal(of: credential, on: lane).map { min($0, end) } ?? end
    case .reauthNeeded:
      // An outage of the provider ends by itself; whoever comes next finds the user signed in.
      return canRenew && isEager ? retryTime(lane) : nil
    default: return nil
    }
  }

  private func plannedRenewal(of credential: Credential, on lane: Lane) -> Timestamp? {
    let planned = adapter.common.planner.renewal(
      obtained: credential.obtainedAt, expires: credential.expiresAt, lead: lane.recovery.lead,
      random: lane.recovery.random)
    guard let planned, planned <= now, lane.recovery.failure != nil else { return planned }
    return retryTime(lane)
  }

  private func retryTime(_ lane: Lane) -> Timestamp {
    let breaker = environment.bridge.status(of: bridgeKey(lane.service)).nextAttemptAt
    return adapter.common.planner.retry(
      after: lane.recovery.endedAt ?? now, breaker: breaker, random: lane.recovery.random)
  }

  /// The deadline has come, or the clock was set.
  func deadlineReached() async {
    await enter()
    defer { leave() }
    guard !isDeleted else { return }
    for lane in lanes {
      keepConnection(of: lane)
      guard lane.machine.activity == .idle else { continue }
      let means = means(lane)
      if lane.machine.standing == .usable, lane.identity.credential?.hasExpired(at: now) == true {
        await take(.expired(means: means), on: lane)
      } else if let time = nextDeadline(lane), time <= now, !means.isNone {
        await take(.renew(means), on: lane)
      }
    }
    deliverPending()
    plan()
  }
}
