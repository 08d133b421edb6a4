import Concurrency
import DelegateBridge
import JSONRPC
import Logging
public import SDKProtocol
public import StateStore
import Synchronization

/// The registry of all instances by name, and of the kinds that they may have.
public final class InstanceRegistry: Sendable {
  /// The registry's entry for the name of an instance.
  enum Entry: Sendable {
    case hosted(HostedInstance)
    case quarantined(QuarantinedInstance)

    var id: InstanceID {
      switch self {
      case .hosted(let instance): instance.id
      case .quarantined(let instance): instance.id
      }
    }
  }

  /// The entries by name, and an index of the hosted ones by UUID.
  private struct Table {
    private(set) var entries: [InstanceID: Entry] = [:]
    /// The names of all entries, sorted.
    private var names: [InstanceID] = []
    private var hosted: [String: HostedInstance] = [:]

    subscript(id: InstanceID) -> Entry? {
      get { entries[id] }
      set {
        let former = entries[id]
        entries[id] = newValue
        if case .hosted(let former)? = former {
          hosted[former.uuid.description] = nil
          former.actor.list(false)
        }
        if case .hosted(let instance)? = newValue {
          hosted[instance.uuid.description] = instance
          instance.actor.list(true)
        }
        switch (former, newValue) {
        case (nil, _?): names.insert(id, at: position(of: id))
        case (_?, nil): names.remove(at: position(of: id))
        default: break
        }
      }
    }

    subscript(uuid uuid: String) -> HostedInstance? { hosted[uuid] }

    /// The number of entries that are quarantined.
    var quarantinedCount: Int { entries.count - hosted.count }

    /// Returns the entries whose names come after `id`, sorted, at most `count` of them.
    func entries(after id: InstanceID?, atMost count: Int) -> [Entry] {
      var first = id.map(position(of:)) ?? 0
      if first < names.count, names[first] == id { first += 1 }
      return names[first...].prefix(count).compactMap { entries[$0] }
    }

    /// Returns the number of names that come before `id`.
    private func position(of id: InstanceID) -> Int {
      var range = 0..<names.count
      while let last = range.last {
        let middle = (range.lowerBound + last) / 2
        range = names[middle] < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }
  }

  private let entries = Mutex(Table())
  /// The number of entries that were read for the lists of many, so that a test sees what a call takes.
  let looks = Atomic(0)
  let deleted = Mutex(DeletedInstances())
  /// Instances whose creation is being committed.
  typealias Arriving = [InstanceUUID: (id: InstanceID, access: InstanceAccess, number: Int)]

  /// The instances whose creation is being committed. They count towards the quota of their owner, and their first
  /// event can be read before they are entries.
  let arriving = Mutex<Arriving>([:])
  /// The number of creations since the start. Changed while `arriving` is locked.
  private let creations = Atomic(0)
  /// The number of changes of rules, and of the numbers of the names in them.
  let accessChanges = Atomic(0)
  private let kindsByName: [KindName: any SDKKind]
  /// The settings of each kind that are shown to no caller, which lists need for each instance.
  private let secretSettings: [KindName: Set<String>]
  private let rules: Mutex<Rules>

  /// The daemon's rules: an object, because each call of an app reads them.
  private final class Rules: Sendable {
    let access: AccessPolicy
    let maximumPerUid: Int

    init(_ access: AccessPolicy, _ maximumPerUid: Int) {
      self.access = access
      self.maximumPerUid = maximumPerUid
    }
  }

  /// The environment that all instances share.
  public let environment: InstanceEnvironment
  /// Whether calls run: not before every instance is restored.
  public let availability = Availability()

  /// Creates a registry without instances.
  public init(kinds: [any SDKKind], access: AccessPolicy, environment: InstanceEnvironment, maximumPerUid: Int = 20) {
    kindsByName = Dictionary(kinds.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    secretSettings = kindsByName.mapValues(\.settings.secrets)
    rules = Mutex(Rules(access, maximumPerUid))
    self.environment = environment
    environment.renewals.attach { [weak self] in self?.replan() }
    environment.deadlines.observeClock { [weak self] in self?.clockWasSet() }
    access.names.observe { [weak self] in self?.namesChanged() }
    access.names.request(access.requiredNames, for: 0)
  }

  /// The kinds' names, sorted.
  public var kindNames: [String] { kindsByName.keys.map(\.name).sorted() }

  /// Returns the kind with this name; `nil` if there is none.
  public func kind(_ name: KindName) -> (any SDKKind)? { kindsByName[name] }

  /// Returns the settings of a kind that are shown to no caller.
  func secretSettings(of kind: KindName) -> Set<String> { secretSettings[kind] ?? [] }

  /// The current access rules of the daemon.
  public var access: AccessPolicy { rules.withLock { $0.access } }

  /// The maximum number of instances that a uid may own, whatever its create rules say. Admins have no maximum.
  public var maximumPerUid: Int { rules.withLock { $0.maximumPerUid } }

  /// Replaces the access rules, for requests from now on.
  public func use(access: AccessPolicy, maximumPerUid: Int) {
    rules.withLock { $0 = Rules(access, maximumPerUid) }
    access.names.request(access.requiredNames, for: 0)
    accessChanges.add(1, ordering: .relaxed)
  }

  // MARK: Finding

  /// All instances, by id.
  public var instances: [HostedInstance] { unsortedInstances.sorted { $0.id < $1.id } }

  var unsortedInstances: [HostedInstance] {
    unsortedEntries.compactMap { if case .hosted(let instance) = $0 { instance } else { nil } }
  }

  /// All entries in no order.
  var unsortedEntries: [Entry] { look { Array($0.entries.values) } }

  /// The instances that could not be opened.
  public var quarantined: [QuarantinedInstance] {
    guard quarantinedCount > 0 else { return [] }
    return unsortedEntries.compactMap { if case .quarantined(let instance) = $0 { instance } else { nil } }
      .sorted { $0.id < $1.id }
  }

  /// The number of instances that could not be opened.
  var quarantinedCount: Int { entries.withLock { $0.quarantinedCount } }

  /// Returns the instances among the next `count` entries after `id`, by id, and the id to continue with; `nil` at the
  /// end.
  public func instances(after id: InstanceID?, atMost count: Int) -> (instances: [HostedInstance], next: InstanceID?) {
    let found = entries(after: id, atMost: count)
    let instances = found.compactMap { if case .hosted(let instance) = $0 { instance } else { nil } }
    return (instances, found.count < count ? nil : found.last?.id)
  }

  /// The number of instances that wait for a new credential.
  public var waitingCount: Int { environment.states.waiting.count }

  /// Returns the entries whose names come after `id`, sorted, at most `count` of them.
  func entries(after id: InstanceID?, atMost count: Int) -> [Entry] {
    look { $0.entries(after: id, atMost: count) }
  }

  /// The number of entries.
  var count: Int { entries.withLock { $0.entries.count } }

  /// Returns the entries with these names, in their order.
  func look(at names: some Collection<InstanceID>) -> [Entry] {
    look { table in names.compactMap { table.entries[$0] } }
  }

  private func look(_ read: (borrowing Table) -> [Entry]) -> [Entry] {
    let found = entries.withLock { read($0) }
    looks.add(found.count, ordering: .relaxed)
    return found
  }

  func hosted(_ id: InstanceID) -> HostedInstance? {
    entries.withLock { if case .hosted(let instance)? = $0[id] { instance } else { nil } }
  }

  /// Returns the instance with this UUID; `nil` if there is none.
  public func instance(uuid: String) -> HostedInstance? { entries.withLock { $0[uuid: uuid] } }

  /// Returns the kind of an instance, also of a recently deleted one, for records about its end.
  func kind(ofInstance id: InstanceID) -> KindName? {
    hosted(id)?.kind ?? deleted.withLock { $0.kind(of: id) }
  }

  /// Whether an instance has this name, visible or not.
  func isKnown(_ id: InstanceID) -> Bool { entries.withLock { $0[id] != nil } }

  /// Returns the peer's role on an instance; `nil` when it is hidden.
  public func role(of peer: Peer, on instance: HostedInstance) -> Role? {
    let rules = rules.withLock { $0 }
    return rules.access.role(of: peer, by: instance.roles(rules.access.names))
  }

  /// Returns the instance and the peer's role on it, if that is at least the one that is needed.
  ///
  /// - Throws: `instanceNotFound` for hidden and missing ones alike, `accessDenied`, `instanceQuarantined`.
  func find(
    _ id: InstanceID, for peer: Peer, atLeast needed: Role
  ) throws(SDKError) -> (instance: HostedInstance, role: Role) {
    switch entries.withLock({ $0[id] }) {
    case .hosted(let instance)?:
      guard let role = role(of: peer, on: instance) else { throw .instanceNotFound(id) }
      guard role >= needed else {
        throw .accessDenied(
          "This takes the role \(needed.name) on \(id), and the caller has \(role.name); its owner or an admin can give it.",
          instance: id)
      }
      return (instance, role)
    case .quarantined(let instance)?:
      guard access.isAdmin(peer) else { throw .instanceNotFound(id) }
      throw SDKError(
        .store, .instanceQuarantined,
        "The stored rows of \(id) don't open (\(instance.problem)); restore a backup or delete the instance.",
        instance: id)
    case nil: throw .instanceNotFound(id)
    }
  }

  // MARK: Start

  /// Reads the store, starts the events, and restores all instances.
  public func restore() async throws(SDKError) {
    let state = try await environment.store.load()
    try await environment.events.begin(self)
    await restore(state)
  }

  /// Restores the instances of the store. An instance that can't be made from its rows is quarantined, without effect
  /// on the others.
  private func restore(_ state: StoredState) async {
    let restored = Settings.sharing { state.instances.compactMap(hosted) }
    for instance in state.quarantined { quarantine(instance) }
    let names = access.names
    deleted.withLock { deleted in for event in state.deleted { deleted.add(event, names) } }
    for instance in restored { instance.makeRoles(names) }
    accessChanges.add(1, ordering: .relaxed)
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
      entries.withLock { $0[stored.id] = .hosted(instance) }
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

  /// Makes every instance plan its next renewal again.
  private func replan() {
    environment.operations.start { [weak self] in
      for instance in self?.instances ?? [] { await instance.actor.replan() }
    }
  }

  /// Corrects the vendors' clocks after the daemon's clock was set. Instances whose credentials had expired by the
  /// former time then check them again, and all plan their next work by the new time.
  private func clockWasSet() {
    environment.vendorClocks.clockWasSet()
    environment.operations.start { [weak self] in
      await Self.each(self?.unsortedInstances ?? []) { instance in
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
    entries.withLock { $0[instance.id] = .quarantined(instance) }
  }

  private static func words(for error: any Error) -> String {
    (error as? any RPCErrorConvertible)?.rpcError.message ?? "its rows have an unknown form"
  }

  private func host(_ stored: StoredInstance) throws -> HostedInstance {
    let definition = try JSONValueDecoder.decode(Definition.self, from: stored.definition)
    reportDroppedRules(of: stored, definition)
    return try HostedInstance(
      stored: stored, definition: definition,
      adapter: try adapter(for: definition, uuid: stored.uuid), provider: try definition.providerConfiguration(),
      environment: environment)
  }

  /// Creates the SDK adapter for a definition.
  func adapter(for definition: Definition, uuid: InstanceUUID) throws -> any SDKAdapter {
    guard let kind = kind(definition.kind) else { throw unknownKind(definition.kind) }
    // Looked up each time, since `[network] allow` and the admins can change while the adapter lives.
    let rule: @Sendable () -> SuppliedURLRule = { [weak self] in self?.supplied(kind, definition) ?? .nowhere }
    let clock = environment.vendorClocks.clock(of: uuid)
    let network = GuardedNetwork(
      http: DatedHTTP(base: environment.http, clock: clock), owner: definition.connectionOwner,
      sockets: environment.sockets, rule: rule, proxy: try CommonSettings.proxy(in: definition.settings),
      lists: { [weak self] host in self?.access.hosts?.contains(host) ?? false },
      log: ExchangeLog(logger: environment.logger) { [weak self] in self?.instance(uuid: uuid.description)?.id })
    return try kind.makeAdapter(
      settings: definition.settings,
      services: AdapterServices(
        instance: uuid.description, clock: clock.wallClock, http: network, sockets: network,
        digests: environment.store.identityDigests, supplied: rule()))
  }

  private func unknownKind(_ name: KindName) -> RPCError {
    let nearest = name.name.nearest(in: kindNames)
    return .invalidParams(
      "There is no kind \(name.name.prefix(64)); this daemon has \(kindNames.joined(separator: ", ")).",
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
    if entries.withLock({ $0[id] != nil }) { throw exists(id) }
    // Reserved before it is checked: of concurrent calls, each counts those that came before it.
    let number = arriving.withLock { arriving in
      let number = creations.add(1, ordering: .relaxed).newValue
      arriving[uuid] = (id, definition.instanceAccess, number)
      return number
    }
    defer { arriving.withLock { $0[uuid] = nil } }
    if let peer { try checkQuota(of: peer, for: id, before: number) }
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
    instance.makeRoles(access.names)
    entries.withLock { $0[id] = .hosted(instance) }
    arriving.withLock { $0[uuid] = nil }
    useRules(of: instance)
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
      let owner = self.access.names.user(of: access.owner)
      deleted.withLock { $0.add(instance.uuid, instance.id, instance.kind, access, of: owner) }
      environment.vendorClocks.forget(instance.uuid)
      entries.withLock { entries in
        if case .hosted(let present)? = entries[instance.id], present.actor === instance.actor {
          entries[instance.id] = nil
        }
      }
      accessChanges.add(1, ordering: .relaxed)
    }
    if let problem { throw problem }
  }

  /// Deletes an instance whose rows don't open. Returns `false` when there is none of this name.
  public func deleteQuarantined(_ id: InstanceID) async throws -> Bool {
    guard case .quarantined(let broken)? = entries.withLock({ $0[id] }) else { return false }
    let done = try await environment.store.commit(
      InstanceChange(uuid: broken.uuid, id: id, kind: KindName("unknown"), parts: [.delete]))
    entries.withLock { $0[id] = nil }
    if let unfinished = done.unfinished { throw unfinished.about(id) }
    return true
  }
}
