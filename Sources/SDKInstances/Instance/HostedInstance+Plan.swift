import DelegateBridge
import SDKProtocol
import StateStore

extension HostedInstance {
  /// Sets the one deadline of this instance: the next renewal ahead of time, or the end of the credential.
  func plan() {
    guard !isDeleted, let time = nextDeadline() else {
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
    if machine.phase == .authenticated, machine.standing == .expired, !canRenew {
      machine.standing = .usable
      await take(.expired(canRenew: false))
      return
    }
    publish()
    plan()
  }

  private func nextDeadline() -> Timestamp? {
    guard machine.activity == .idle, let credential = identity.credential else { return nil }
    let isEager = adapter.common.planner.mode == .eager
    switch machine.phase {
    case .authenticated:
      guard let end = credential.expiresAt else { return nil }
      guard canRenew else { return machine.standing == .usable ? end : nil }
      guard isEager else { return nil }
      guard machine.standing == .usable else { return retryTime() }
      return plannedRenewal(of: credential).map { min($0, end) } ?? end
    case .reauthNeeded:
      // An outage of the provider ends by itself; whoever comes next finds the user signed in.
      return canRenew && isEager ? retryTime() : nil
    default: return nil
    }
  }

  private func plannedRenewal(of credential: Credential) -> Timestamp? {
    let planned = adapter.common.planner.renewal(
      obtained: credential.obtainedAt, expires: credential.expiresAt, lead: recovery.lead, random: recovery.random)
    guard let planned, planned <= now, recovery.failure != nil else { return planned }
    return retryTime()
  }

  private func retryTime() -> Timestamp {
    let breaker = environment.bridge.status(of: bridgeKey).nextAttemptAt
    return adapter.common.planner.retry(after: recovery.endedAt ?? now, breaker: breaker, random: recovery.random)
  }

  /// The deadline has come, or the clock was set.
  func deadlineReached() async {
    await enter()
    defer { leave() }
    guard !isDeleted, machine.activity == .idle else { return }
    if machine.standing == .usable, identity.credential?.hasExpired(at: now) == true {
      await take(.expired(canRenew: canRenew))
    } else if let time = nextDeadline(), time <= now, canRenew {
      await take(.renew)
    } else {
      plan()
    }
  }
}
