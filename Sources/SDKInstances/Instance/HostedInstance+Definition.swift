public import DelegateBridge
import JSONRPC
public import SDKProtocol
import StateStore
import Synchronization

extension HostedInstance {
  /// The instance as its observers see it.
  ///
  /// - Parameter isAdmin: whether the provider may be shown.
  public nonisolated func shape(secretSettings: Set<String>, isAdmin: Bool) -> Instance {
    let seen = published.withLock { $0 }
    var settings = seen.definition.settings
    for name in secretSettings where settings[name] != nil { settings[name] = "‹redacted›" }
    return Instance(
      instance: id, kind: kind, source: seen.definition.source, state: seen.state, user: seen.user,
      labels: seen.definition.labels, settings: settings,
      provider: isAdmin ? Self.redacted(seen.definition.provider) : nil,
      bridge: environment.bridge.status(of: bridgeKey), access: seen.definition.access, expiresAt: seen.expiresAt,
      lastError: seen.lastError, createdAt: createdAt, storageEpoch: seen.storageEpoch)
  }

  /// The values of a provider's environment may be secrets; their names help.
  private static func redacted(_ provider: JSONObject?) -> JSONObject? {
    guard var provider, let environment = provider["environment"]?.objectValue else { return provider }
    provider["environment"] = .object(JSONObject(environment.keys.map { ($0, "‹redacted›") }))
    return provider
  }

  /// Puts a changed definition in force; another backend is another identity and wipes.
  public func redefine(
    _ change: (Definition) throws -> (Definition, any SDKAdapter, ProviderConfiguration?, isOtherBackend: Bool)
  ) async throws {
    await enter()
    defer { leave() }
    try checkAlive()
    let (next, nextAdapter, nextProvider, isOtherBackend) = try change(definition)
    guard next != definition else { return }
    var store = InstanceChange(uuid: uuid, id: id, kind: kind, expectedEpoch: durableEpoch)
    var record = identity
    var epoch = durableEpoch
    let wipes = isOtherBackend && (identity.user != .none || identity.credential != nil || !identity.kindState.isEmpty)
    if wipes {
      epoch = machine.epoch + 1
      record = .nobody(.noUser)
      store.parts.append(.wipe)
    }
    store.parts.append(.define(try JSONValueEncoder.encode(next)))
    if wipes { store.parts += [.identify(try record.json()), .raiseEpoch(to: epoch)] }
    if wipes {
      if identity.user != .none { store.events.append(event(.loggedOut(.switch), result: nil)) }
      store.events.append(.init(.identityWiped))
    }
    store.events.append(.init(.instanceUpdated))
    let done = try await committed(store)
    if let wiped = done.wiped { storageEpoch = wiped.storageEpoch }
    if wipes { durableEpoch = epoch }
    if isOtherBackend { forgetIdentity(record, policy: nextAdapter.policy) }
    machine.policy = nextAdapter.policy
    if isOtherBackend { await environment.http.forget(instance: uuid.description) }
    definition = next
    adapter = nextAdapter
    provider = nextProvider
    publish()
    plan()
    await environment.events.append(done.events)
  }

  /// Also without a user: a login that is on its way to the former backend must not be adopted.
  private func forgetIdentity(_ record: IdentityRecord, policy: AuthenticationPolicy) {
    progress?.outcome.resolve(
      .failure(SDKError(.state, .superseded, "The instance has another backend now; log in again.", instance: id)))
    progress = nil
    identity = record
    machine = AuthenticationMachine(phase: record.phase, standing: .none, epoch: machine.epoch + 1, policy: policy)
    recovery = RecoveryHistory()
  }

  /// Destroys all that the instance stores. What is in progress hears that it is gone.
  public func delete() async throws {
    await enter()
    defer { leave() }
    try checkAlive()
    let done = try await committed(
      InstanceChange(
        uuid: uuid, id: id, kind: kind, parts: [.wipe, .delete], events: [.init(.instanceDeleted)]))
    isDeleted = true
    progress?.outcome.resolve(.failure(SDKError.instanceNotFound(id)))
    progress = nil
    environment.deadlines.set(uuid.description, at: nil) {}
    environment.bridge.forget(bridgeKey)
    await environment.http.forget(instance: uuid.description)
    await environment.events.append(done.events)
  }

  private func committed(_ change: InstanceChange) async throws -> CommitResult {
    do throws(SDKError) {
      return try await environment.store.commit(change)
    } catch {
      throw error.about(id)
    }
  }
}
