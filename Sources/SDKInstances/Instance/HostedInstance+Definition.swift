import Concurrency
public import DelegateBridge
import JSONRPC
public import SDKProtocol
import StateStore
import Synchronization

extension HostedInstance {
  /// Returns the instance as observers see it.
  ///
  /// - Parameters:
  ///   - isAdmin: whether the provider may be shown.
  ///   - conceals: whether an external id that is a secret is replaced by its digest.
  public nonisolated func shape(secretSettings: Set<String>, isAdmin: Bool, conceals: Bool) -> Instance {
    let seen = published.withLock { $0 }
    var settings = seen.definition.settings
    for name in secretSettings where settings[name] != nil { settings[name] = "‹redacted›" }
    let main = seen.main
    let services = seen.services.mapValues { lane in
      Instance.Service(
        state: lane.state, user: conceals ? concealed(lane.user) : lane.user, expiresAt: lane.expiresAt)
    }
    return Instance(
      instance: id, kind: kind, source: seen.definition.source, state: main.state,
      user: conceals ? concealed(main.user) : main.user, services: seen.whole == nil ? services : nil,
      labels: seen.definition.labels, settings: settings,
      provider: isAdmin ? Self.redacted(seen.definition.provider) : nil,
      bridge: bridgeStatus(services.keys.sorted()), access: seen.definition.access, expiresAt: main.expiresAt,
      lastError: main.lastError, degraded: main.degraded, pending: seen.pending, createdAt: createdAt,
      storageEpoch: seen.storageEpoch)
  }

  /// Returns the bridge's status. Of several services it is the first whose breaker is not closed, else the first with
  /// a `lastExit`.
  private nonisolated func bridgeStatus(_ services: [String]) -> Instance.Bridge {
    let all = services.isEmpty ? [nil] : services.map(Optional.some)
    let states = all.map { environment.bridge.status(of: bridgeKey($0)) }
    return states.first { $0.state != .closed } ?? states.first { $0.lastExit != nil } ?? states[0]
  }

  /// Returns the provider with redacted environment values, because they may be secrets. The names stay.
  private static func redacted(_ provider: JSONObject?) -> JSONObject? {
    guard var provider, let environment = provider["environment"]?.objectValue else { return provider }
    provider["environment"] = .object(JSONObject(environment.keys.map { ($0, "‹redacted›") }))
    return provider
  }

  /// Puts a changed definition in force. Another backend wipes the identity. Changed settings wait for a logout in
  /// progress, because they would end its connection or its user.
  ///
  /// - Throws: `timeout` when the logout has not ended within the instance's `timeout`; the errors of `change`;
  ///   `storeUnavailable`. The last is also thrown if the definition is in force but the former user's key could not be
  ///   removed.
  public func redefine(
    _ change: (Definition) throws -> (Definition, any SDKAdapter, ProviderConfiguration?, isOtherBackend: Bool)
  ) async throws {
    try await beginChange {
      guard let logout = lanes.lazy.compactMap(logoutInProgress).first, let next = try? change(definition).0 else {
        return nil
      }
      return next.settings == definition.settings ? nil : logout
    }
    defer { changing.unlock() }
    try checkAlive()
    let (next, nextAdapter, nextProvider, isOtherBackend) = try change(definition)
    guard next != definition else { return }
    let wipes = isOtherBackend && lanes.contains { !$0.identity.isNobody }
    let nextLanes = lanes(for: nextAdapter, keeping: !isOtherBackend)
    var store = newChange()
    if wipes { store.parts.append(.wipe) }
    store.parts.append(.define(try JSONValueEncoder.encode(next)))
    let isReset =
      wipes || nextLanes.count != lanes.count || !nextLanes.allSatisfy { lane in lanes.contains { $0 === lane } }
    if isReset || nextAdapter.traits.persistsIdentity != adapter.traits.persistsIdentity {
      let records = nextLanes.map { ($0.service, Self.durable($0.identity, of: nextAdapter)) }
      store.parts.append(.identify(try StoredIdentities.json(records)))
    }
    if isReset { store.parts.append(.raiseEpoch(to: durableEpoch + 1)) }
    var remaining = deliveries
    let gone = lanes.filter { lane in wipes || !nextLanes.contains { $0 === lane } }
    for lane in gone where !lane.identity.isNobody {
      let own = pushes.filter { $0.service == lane.service && !$0.orphaned }
      let farewell = adapter.capabilities.cleanup?.farewell(
        to: lane.identity, pushes: own, isInformed: false, now: now)
      remaining += (farewell ?? []).map { $0.of(lane.service) }
      if lane.identity.user != .none { store.events.append(event(.loggedOut(.switch), on: lane, result: nil)) }
      if !wipes { store.parts += own.map { .deletePush(id: $0.id) } }
    }
    let (kept, dropped) = Delivery.newest(remaining)
    let present = Set(deliveries.map(\.id))
    store.parts += dropped.map { .deleteOutbox(id: $0.id) }
    for delivery in kept where wipes || !present.contains(delivery.id) {
      store.parts.append(
        .putOutbox(id: delivery.id, try JSONValueEncoder.encode(delivery), deadline: delivery.deadline))
    }
    if wipes { store.events.append(.init(.identityWiped)) }
    store.events.append(.init(.instanceUpdated))
    let done = try await committed(store)
    if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
    if isReset { durableEpoch += 1 }
    if isOtherBackend { forgetIdentities() }
    if wipes { pushes = [] }
    for lane in gone where !nextLanes.contains(where: { $0 === lane }) {
      pushes.removeAll { $0.service == lane.service && !$0.orphaned }
      lane.progress?.outcome.resolve(.failure(superseded))
      lane.progress = nil
      lane.endNeed()
      forgetPlace(of: lane)
    }
    deliveries = kept
    noteGivenUp(dropped)
    let former = adapter
    let isNewSDK = definition.settings != next.settings
    lanes = nextLanes
    definition = next
    adapter = nextAdapter
    provider = nextProvider
    for lane in lanes { lane.machine.policy = nextAdapter.traits.policy }
    if isOtherBackend || former.traits.common != nextAdapter.traits.common {
      forgetClients()
    }
    if isNewSDK { for lane in lanes { dropConnection(of: lane) } }
    publish()
    for lane in lanes { keepConnection(of: lane) }
    deliverPending()
    plan()
    environment.events.append(done.events)
    if let unfinished = done.unfinished { throw unfinished.about(id) }
  }

  /// Returns the lanes of a changed definition: the present ones that it keeps, and new ones for new services.
  private func lanes(for adapter: any SDKAdapter, keeping: Bool) -> [Lane] {
    // Higher than every epoch in which present work began, durable or not.
    let epoch = lanes.map(\.machine.epoch).reduce(durableEpoch, max) + 1
    let fresh = Self.lanes(adapter.traits.services, policy: adapter.traits.policy, epoch: epoch, now: now) { _ in nil }
    return fresh.map { new in keeping ? lane(new.service) ?? new : new }
  }

  /// Resets all lanes after a change of the backend. Logins in progress fail with `superseded`, so that they are not
  /// adopted.
  private func forgetIdentities() {
    for lane in lanes {
      lane.progress?.outcome.resolve(
        .failure(SDKError(.state, .superseded, "The instance has another backend now; log in again.", instance: id)))
      lane.reset(to: .nobody(.noUser), policy: adapter.traits.policy)
      dropConnection(of: lane)
    }
  }

  /// Destroys everything that the instance stores. Activities in progress fail with `SDKError.instanceNotFound`.
  ///
  /// - Returns: the error of cleanup that is left to be done on the disk, such as a key that could not be removed. The
  ///   instance is deleted all the same.
  @discardableResult
  public func delete() async throws -> SDKError? {
    await changing.lock()
    defer { changing.unlock() }
    try checkAlive()
    // The event carries its audience: observers of the deleted instance still get its events, including this last one.
    let last = InstanceChange.NewEvent(
      .instanceDeleted,
      audience: try JSONValueEncoder.encode(
        definition.instanceAccess.bounded(to: DeletedInstances.bytesPerEntry)))
    let done = try await committed(
      InstanceChange(uuid: uuid, id: id, kind: kind, parts: [.wipe, .delete], events: [last]))
    isDeleted = true
    for lane in lanes {
      lane.progress?.outcome.resolve(.failure(SDKError.instanceNotFound(id)))
      lane.endNeed()
      lane.progress = nil
      dropConnection(of: lane)
      environment.bridge.forget(bridgeKey(lane.service))
    }
    plan()
    forgetClients()
    environment.events.append(done.events)
    return done.unfinished?.about(id)
  }

  /// Closes the connections of the instance's HTTP clients, which can take a while.
  private func forgetClients() {
    let (http, uuid) = (environment.http, uuid)
    environment.operations.startBackground { await http.forget(instance: uuid.description) }
  }

  func committed(_ change: InstanceChange) async throws -> CommitResult {
    do throws(SDKError) {
      return try await commit(change)
    } catch {
      throw error.about(id)
    }
  }
}
