import JSONRPC
import Logging
import SDKProtocol
import StateStore

extension HostedInstance {
  typealias Action = AuthenticationMachine.Action
  typealias Input = AuthenticationMachine.Input

  /// Takes an input: commits what must be durable, publishes, then begins the rest. Call it between `enter` and
  /// `leave`.
  ///
  /// - Parameters:
  ///   - begun: the activity that the input begins, for those that do.
  ///   - result: what the vendor made of a login, for inputs that bring it.
  /// - Returns: whether the input took effect; `false` when the change could not be stored.
  @discardableResult
  func take(_ input: Input, beginning begun: Progress? = nil, with result: SignedIn? = nil) async -> Bool {
    var next = machine
    let actions = next.apply(input)
    let former = progress
    let told: [StoredEvent]
    do throws(SDKError) {
      told = try await commit(actions, next: next, result: result)
    } catch {
      storeFailed(error, actions: actions, begun: begun)
      return false
    }
    rememberRecovery(next, actions)
    machine = next
    if actions.contains(.supersede) { former?.outcome.resolve(.failure(superseded)) }
    if let begun { progress = begun } else if actions.contains(.supersede) { progress = nil }
    if progress == nil, machine.activity != .idle { progress = Progress() }
    note(actions)
    publish()
    // Told after it can be seen: who hears of a logout is not given the former token any more.
    await environment.events.append(told)
    for action in actions { begin(action, result: result) }
    plan()
    return true
  }

  private func rememberRecovery(_ next: AuthenticationMachine, _ actions: [Action]) {
    guard machine.isRecovering, !next.isRecovering else { return }
    recovery.endedAt = now
    recovery.failure = nil
    for case .announce(.refreshFailed(let error)) in actions { recovery.failure = error }
    for case .finish(.failed(let error)) in actions { recovery.failure = error }
  }

  private var superseded: SDKError {
    SDKError(.state, .superseded, "A newer login or logout took this one's place; read the state again.", instance: id)
  }

  /// Nothing has changed on disk, so nothing changes in memory; but a wipe that can't be made durable locks.
  private func storeFailed(_ error: SDKError, actions: [Action], begun: Progress?) {
    logger.error("A change could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    if actions.contains(.wipe) { _ = machine.apply(.wipeFailed) } else { machine.activity = .idle }
    let failure = error.about(id)
    begun?.outcome.resolve(.success(.failed(failure)))
    if let progress, progress.outcome !== begun?.outcome { progress.outcome.resolve(.success(.failed(failure))) }
    progress = nil
    publish()
    plan()
  }

  private func commit(
    _ actions: [Action], next: AuthenticationMachine, result: SignedIn?
  ) async throws(SDKError) -> [StoredEvent] {
    var record = identity
    var change = InstanceChange(uuid: uuid, id: id, kind: kind, expectedEpoch: durableEpoch)
    var isDurable = false
    var wipes = false
    for action in actions {
      switch action {
      case .wipe:
        wipes = true
        change.parts.append(.wipe)
        record = IdentityRecord(phase: next.phase, kindState: adapter.remainder(of: identity))
      case .adopt(let wipe):
        isDurable = true
        if wipe, identity.user.externalId != result?.user.externalId, identity.user != .none {
          wipes = true
          change.parts.append(.wipe)
        }
        if let result { record = IdentityRecord(phase: next.phase, of: result) }
      case .adoptCredential(let verified):
        isDurable = true
        if let offered = progress?.offered {
          record.credential = offered.credential
          record.user.authenticated = true
          record.user.verified = verified || record.user.verified
          record.lastError = nil
        }
      case .record: isDurable = true
      case .announce(let notice):
        isDurable = true
        if isNews(notice) { change.events.append(event(notice, result: result)) }
        if let error = notice.failure { record.lastError = lastError(error) }
      default: continue
      }
    }
    guard isDurable || wipes else { return [] }
    if wipes { change.events.append(.init(.identityWiped)) }
    if let merge = result?.merge, actions.contains(where: \.isAdoption) {
      change.events.append(
        .init(.userMerged, data: ["from": .string(merge.from), "to": .string(merge.to), "mode": .string(merge.mode)]))
    }
    record.phase = next.phase
    record.isRefused = next.standing == .refused
    return try await commit(&change, record: record, epoch: next.epoch)
  }

  private func commit(
    _ change: inout InstanceChange, record: IdentityRecord, epoch: UInt64
  ) async throws(SDKError) -> [StoredEvent] {
    guard let json = try? record.json() else {
      throw SDKError(.store, .storeUnavailable, "The identity can't be written.", instance: id)
    }
    change.parts.append(.identify(json))
    if epoch > durableEpoch { change.parts.append(.raiseEpoch(to: epoch)) }
    let done = try await environment.store.commit(change)
    durableEpoch = epoch
    identity = record
    if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
    return done.events
  }

  /// Commits an event alone, such as the refusal of a credential before the network.
  func announce(_ notice: AuthenticationMachine.Notice) async {
    var record = identity
    if let error = notice.failure { record.lastError = lastError(error) }
    var change = InstanceChange(uuid: uuid, id: id, kind: kind, expectedEpoch: durableEpoch)
    if isNews(notice) { change.events.append(event(notice, result: nil)) }
    do throws(SDKError) {
      let told = try await commit(&change, record: record, epoch: durableEpoch)
      publish()
      await environment.events.append(told)
    } catch {
      logger.error("An event could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
  }

  private func lastError(_ error: SDKError) -> Instance.LastError {
    Instance.LastError(reason: error.reason, message: error.message, at: now)
  }

  private func note(_ actions: [Action]) {
    for case .announce(let notice) in actions {
      let level: Logger.Level = notice.failure == nil ? .info : .warning
      logger.log(level: level, "\(notice.sentence)", metadata: ["event": "\(notice.type.rawValue)"])
    }
  }
}

extension IdentityRecord {
  fileprivate init(phase: AuthenticationMachine.Phase, of result: SignedIn) {
    self.init(phase: phase, user: result.user, credential: result.credential, kindState: result.kindState)
  }
}

extension AuthenticationMachine.Action {
  fileprivate var isAdoption: Bool { if case .adopt = self { true } else { false } }
}

extension HostedInstance {
  /// The breaker of the bridge opened or closed.
  public func breakerChanged(isOpen: Bool) async {
    await enter()
    defer { leave() }
    guard !isDeleted else { return }
    let change = InstanceChange(
      uuid: uuid, id: id, kind: kind, events: [.init(isOpen ? .breakerOpened : .breakerClosed)])
    do throws(SDKError) {
      await environment.events.append(try await environment.store.commit(change).events)
    } catch {
      logger.error("An event could not be stored: \(error.message)", metadata: ["reason": "\(error.reason)"])
    }
  }
}
