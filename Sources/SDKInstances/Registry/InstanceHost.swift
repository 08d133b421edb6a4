import Concurrency
public import DelegateBridge
import JSONRPC
public import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// The maker of a registry's instances: restores, creates and deletes them, and gives them what they share.
public final class InstanceHost: Sendable {
  /// The instances.
  public let registry: InstanceRegistry
  /// The environment that all instances share.
  let environment: InstanceEnvironment

  /// Creates a host of the instances of a registry.
  ///
  /// - Parameter onRenewal: observes renewals that end.
  public init(
    _ registry: InstanceRegistry, store: any StateStore, bridge: any AnsweringBridge, operations: Operations,
    deadlines: Deadlines, events: EventHub, clock: WallClock, http: any HTTPSending, sockets: any SocketOpening,
    logger: Logger, onRenewal: @escaping RenewalObserver = { _ in }
  ) {
    self.registry = registry
    let renewals = Renewals(bridge: bridge) { [weak registry] in
      operations.start { [weak registry] in
        for instance in registry?.instances ?? [] { await instance.actor.replan() }
      }
    }
    environment = InstanceEnvironment(
      store: store, bridge: bridge, operations: operations, deadlines: deadlines, renewals: renewals, events: events,
      clock: clock, states: registry.states, roles: registry.roles, vendorClocks: VendorClocks(clock), http: http,
      sockets: sockets, logger: logger, onRenewal: onRenewal)
  }

  // MARK: Start

  /// Reads the store, starts the events, and restores all instances.
  public func restore() async throws(SDKError) {
    let state = try await environment.store.load()
    try await environment.events.begin()
    await restore(state)
  }

  /// Lets calls run, because every instance is restored and the access rules are in force. Continues the subscriptions
  /// that waited for it.
  public func serve() async {
    registry.availability.serve()
    await environment.events.catchUp()
  }

  /// Restores the instances of the store. An instance that can't be made from its rows is quarantined, without effect
  /// on the others.
  private func restore(_ state: StoredState) async {
    let restored = Settings.sharing { state.instances.compactMap(hosted) }
    for instance in state.quarantined { quarantine(instance) }
    let names = registry.access.names
    registry.deleted.withLock { deleted in for event in state.deleted { deleted.add(event, names) } }
    for instance in restored { instance.makeRoles(names) }
    registry.accessChanges.add(1, ordering: .relaxed)
    // The first answer waits for as many ends of credentials as one transaction stores.
    let ends = Atomic(0)
    await Self.each(restored) { instance in
      await instance.actor.resume { ends.add(1, ordering: .relaxed).newValue <= Operations.dueLimit }
    }
  }

  /// Hosts a stored instance, or quarantines it.
  private func hosted(_ stored: StoredInstance) -> HostedInstance? {
    do {
      let instance = try host(stored)
      registry.entries.withLock { $0[stored.id] = .hosted(instance) }
      return instance
    } catch {
      quarantine(
        QuarantinedInstance(
          uuid: stored.uuid, id: stored.id, problem: Self.words(for: error), createdAt: stored.createdAt))
      return nil
    }
  }

  /// Runs `work` for several instances at a time, so that their changes share transactions.
  private static func each(
    _ instances: [HostedInstance], _ work: @escaping @Sendable (HostedInstance) async -> Void
  ) async {
    _ = await instances.concurrentMap(atMost: Operations.dueLimit, work)
  }

  /// Corrects the vendors' clocks after the daemon's clock was set. Instances whose credentials had expired by the
  /// former time then check them again, and all plan their next work by the new time.
  public func clockWasSet() {
    environment.vendorClocks.clockWasSet()
    environment.operations.start { [registry] in
      await Self.each(registry.unsortedInstances) { instance in
        if instance.mayBeRevived {
          await instance.actor.deadlineReached()
        } else {
          await instance.actor.replan()
        }
      }
    }
  }

  private func quarantine(_ instance: QuarantinedInstance) {
    environment.logger.error(
      "An instance does not open and is set aside: \(instance.problem)",
      metadata: ["instance": "\(instance.id)", "messageID": "\(JournalMessage.instanceQuarantined.id)"])
    registry.entries.withLock { $0[instance.id] = .quarantined(instance) }
  }

  private static func words(for error: any Error) -> String {
    (error as? any RPCErrorConvertible)?.rpcError.message ?? "its rows have an unknown form"
  }

  private func host(_ stored: StoredInstance) throws -> HostedInstance {
    let definition = try JSONValueDecoder.decode(Definition.self, from: stored.definition)
    registry.reportDroppedRules(of: stored, definition)
    return try HostedInstance(
      stored: stored, definition: definition,
      adapter: try adapter(for: definition, uuid: stored.uuid), provider: try definition.providerConfiguration(),
      environment: environment)
  }

  /// Creates the SDK adapter for a definition.
  func adapter(for definition: Definition, uuid: InstanceUUID) throws -> any SDKAdapter {
    guard let kind = registry.kind(definition.kind) else { throw unknownKind(definition.kind) }
    // Looked up each time, since `[network] allow` and the admins can change while the adapter lives.
    let rule: @Sendable () -> SuppliedURLRule = { [weak registry] in registry?.supplied(kind, definition) ?? .nowhere }
    let clock = environment.vendorClocks.clock(of: uuid)
    let network = GuardedNetwork(
      http: DatedHTTP(base: environment.http, clock: clock), owner: definition.connectionOwner,
      sockets: environment.sockets, rule: rule, proxy: try CommonSettings.proxy(in: definition.settings),
      lists: { [weak registry] host in registry?.access.hosts?.contains(host) ?? false },
      log: ExchangeLog(logger: environment.logger) { [weak registry] in registry?.instance(uuid: uuid.description)?.id }
    )
    return try kind.makeAdapter(
      settings: definition.settings,
      services: AdapterServices(
        instance: uuid.description, clock: clock.wallClock, http: network, sockets: network,
        digests: environment.store.identityDigests, supplied: rule()))
  }

  private func unknownKind(_ name: KindName) -> RPCError {
    let nearest = name.name.nearest(in: registry.kindNames)
    return .invalidParams(
      "There is no kind \(name.name.prefix(64)); this daemon has \(registry.kindNames.joined(separator: ", ")).",
      member: "kind", nearest: nearest)
  }

  // MARK: Changing

  /// Creates an instance, which is durable on return.
  ///
  /// - Parameter peer: the caller, whose quota the instance must not exceed; `nil` for a configuration file.
  public func create(
    _ id: InstanceID, _ definition: Definition, by peer: Peer? = nil
  ) async throws -> HostedInstance {
    let uuid = InstanceUUID(RandomUUID.make())
    let stored = StoredInstance(
      uuid: uuid, id: id, createdAt: environment.clock.now(), definition: try JSONValueEncoder.encode(definition))
    var isCreated = false
    defer { if !isCreated { environment.vendorClocks.forget(uuid) } }
    let adapter = try adapter(for: definition, uuid: uuid)
    let provider = try definition.providerConfiguration()
    if registry.isKnown(id) { throw exists(id) }
    // Reserved before it is checked: of concurrent calls, each counts those that came before it.
    let number = registry.arriving.withLock { arriving in
      let number = registry.creations.add(1, ordering: .relaxed).newValue
      arriving[uuid] = (id, definition.instanceAccess, number)
      return number
    }
    defer { registry.arriving.withLock { $0[uuid] = nil } }
    if let peer { try registry.checkQuota(of: peer, for: id, before: number) }
    let done: CommitResult
    do throws(SDKError) {
      done = try await environment.store.commit(
        InstanceChange(
          uuid: uuid, id: id, kind: definition.kind, parts: [.create(stored)], events: [.init(.instanceCreated)]))
    } catch {
      throw error.about(id)
    }
    let instance = try HostedInstance(
      stored: stored, definition: definition, adapter: adapter, provider: provider, environment: environment)
    isCreated = true
    // Filed in the index of roles before it is no longer among those that arrive.
    instance.makeRoles(registry.access.names)
    registry.entries.withLock { $0[id] = .hosted(instance) }
    registry.arriving.withLock { $0[uuid] = nil }
    registry.useRules(of: instance)
    environment.events.append(done.events)
    await instance.actor.resume()
    return instance
  }

  private func exists(_ id: InstanceID) -> SDKError {
    SDKError(.existing, .instanceExists, "There is an instance \(id) already; choose another id.", instance: id)
  }

  /// Deletes an instance and all that it stores.
  ///
  /// - Throws: also when the instance is deleted, but cleaning up on the disk is unfinished.
  public func delete(_ instance: HostedInstance) async throws {
    let problem = try await instance.delete {
      // Observers of the deletion must no longer find the instance.
      let access = instance.currentAccess
      let owner = registry.access.names.user(of: access.owner)
      registry.deleted.withLock { $0.add(instance.uuid, instance.id, instance.kind, access, of: owner) }
      environment.vendorClocks.forget(instance.uuid)
      registry.entries.withLock { entries in
        if case .hosted(let present)? = entries[instance.id], present.actor === instance.actor {
          entries[instance.id] = nil
        }
      }
      registry.accessChanges.add(1, ordering: .relaxed)
    }
    if let problem { throw problem }
  }

  /// Deletes an instance whose rows don't open. Returns `false` when there is none of this name.
  public func deleteQuarantined(_ id: InstanceID) async throws -> Bool {
    guard case .quarantined(let broken)? = registry.entries.withLock({ $0[id] }) else { return false }
    let done = try await environment.store.commit(
      InstanceChange(uuid: broken.uuid, id: id, kind: KindName("unknown"), parts: [.delete]))
    registry.entries.withLock { $0[id] = nil }
    if let unfinished = done.unfinished { throw unfinished.about(id) }
    return true
  }
}
