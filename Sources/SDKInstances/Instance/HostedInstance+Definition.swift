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
        state: lane.state, user: conceals ? lane.user.concealed : lane.user, expiresAt: lane.expiresAt)
    }
    return Instance(
      instance: id, kind: kind, source: seen.definition.source, state: main.state,
      user: conceals ? main.user.concealed : main.user, services: seen.whole == nil ? services : nil,
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
      guard let logout = core.services.lazy.compactMap(logoutInProgress).first,
        let next = try? change(core.definition).0
      else { return nil }
      return next.settings == core.definition.settings ? nil : logout
    }
    defer { changing.unlock() }
    try checkAlive()
    let (definition, adapter, provider, isOtherBackend) = try change(core.definition)
    guard definition != core.definition else { return }
    let former = core.adapter
    var next = core
    let step = try next.redefine(
      .init(definition: definition, adapter: adapter, provider: provider, isOtherBackend: isOtherBackend),
      context: context(of:))
    let done = await adopt(next, step)
    if let error = done.end.error { throw error.about(id) }
    if isOtherBackend || former.traits.common != adapter.traits.common { forgetClients() }
    if let unfinished = done.unfinished { throw unfinished.about(id) }
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
    var next = core
    let step = try next.delete()
    let done = await adopt(next, step)
    if let error = done.end.error { throw error.about(id) }
    for service in core.services.map(\.service) { environment.bridge.forget(bridgeKey(service)) }
    forgetClients()
    return done.unfinished?.about(id)
  }

  /// Closes the connections of the instance's HTTP clients, which can take a while.
  private func forgetClients() {
    let (http, uuid) = (environment.http, uuid)
    environment.operations.startBackground { await http.forget(instance: uuid.description) }
  }
}
