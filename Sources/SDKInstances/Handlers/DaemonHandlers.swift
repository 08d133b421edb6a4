public import JSONRPC
public import SDKProtocol
import StateStore
import Synchronization

/// The daemon's information about itself, and its administrative actions. The program sets the members when it starts.
public struct DaemonFacts: Sendable {
  /// The process id.
  public var pid: Int
  /// The time at which the daemon started.
  public var startedAt: Timestamp
  /// The number of earlier starts on this state.
  public var restartCount: Int
  /// Returns the paths of the daemon's files, which only admins get.
  public var paths: @Sendable () -> DaemonInfo.Paths?
  /// Returns the limits for callers other than admins, by name.
  public var limits: @Sendable () -> [String: Double]
  /// Returns the proxy to the vendors; `nil` for direct connections.
  public var proxy: @Sendable () -> DaemonInfo.Result.Proxy?
  /// Returns the problems outside the store, such as a configuration that can't be read. Only admins get the details.
  public var problems: @Sendable () -> [DaemonHealth.Check]
  /// Returns the metrics.
  public var metrics: @Sendable () async -> DaemonMetrics.Result
  /// Applies the configuration that is on disk now.
  public var reload: @Sendable () async throws -> DaemonReload.Result
  /// Returns the level of the journal.
  public var logLevel: @Sendable () -> JournalLevel
  /// Changes the level of the journal for a while.
  public var setLogLevel: @Sendable (DaemonSetLogLevel.Params) -> JournalLevel
  /// Makes a backup of the state.
  public var backUp: @Sendable (DaemonBackup.Params) async throws -> DaemonBackup.Result
  /// Replaces the master key.
  public var rotateKey: @Sendable () async throws -> DaemonRotateKey.Result

  /// Creates a value with these members.
  public init(
    pid: Int, startedAt: Timestamp, restartCount: Int, paths: @escaping @Sendable () -> DaemonInfo.Paths? = { nil },
    limits: @escaping @Sendable () -> [String: Double],
    proxy: @escaping @Sendable () -> DaemonInfo.Result.Proxy? = { nil },
    problems: @escaping @Sendable () -> [DaemonHealth.Check],
    metrics: @escaping @Sendable () async -> DaemonMetrics.Result,
    reload: @escaping @Sendable () async throws -> DaemonReload.Result,
    logLevel: @escaping @Sendable () -> JournalLevel,
    setLogLevel: @escaping @Sendable (DaemonSetLogLevel.Params) -> JournalLevel,
    backUp: @escaping @Sendable (DaemonBackup.Params) async throws -> DaemonBackup.Result,
    rotateKey: @escaping @Sendable () async throws -> DaemonRotateKey.Result
  ) {
    self.pid = pid
    self.startedAt = startedAt
    self.restartCount = restartCount
    self.paths = paths
    self.limits = limits
    self.proxy = proxy
    self.problems = problems
    self.metrics = metrics
    self.reload = reload
    self.logLevel = logLevel
    self.setLogLevel = setLogLevel
    self.backUp = backUp
    self.rotateKey = rotateKey
  }
}

/// The handlers of `rpc.discover` and `daemon.*`.
enum DaemonHandlers {
  static func register(
    in router: inout CallRouter, host: InstanceHost, facts: DaemonFacts, document: DiscoveredDocument
  ) {
    let registry = host.registry
    router.register(RPCDiscover.self) { _, _ in document.make() }
    router.register(DaemonInfo.self) { _, context in
      let isAdmin = registry.access.isAdmin(context.peer)
      return DaemonInfo.Result(
        name: "sdkd", version: SDKVersion.program, apiVersion: SDKVersion.api, pid: facts.pid,
        startedAt: facts.startedAt, kinds: registry.kindNames, limits: facts.limits(), restartCount: facts.restartCount,
        proxy: isAdmin ? facts.proxy() : nil, paths: isAdmin ? facts.paths() : nil,
        journal: isAdmin ? facts.logLevel() : nil)
    }
    router.register(DaemonHealth.self) { _, context in health(host, facts, context) }
    router.register(DaemonMetrics.self) { _, _ in await facts.metrics() }
    router.register(DaemonReload.self) { _, _ in try await facts.reload() }
    router.register(DaemonSetLogLevel.self) { params, _ in facts.setLogLevel(params) }
    router.register(DaemonBackup.self) { params, _ in try await facts.backUp(params) }
    router.register(DaemonRotateKey.self) { _, _ in try await facts.rotateKey() }
  }

  private static func health(
    _ host: InstanceHost, _ facts: DaemonFacts, _ context: CallContext
  ) -> DaemonHealth.Result {
    let registry = host.registry
    let isAdmin = registry.access.isAdmin(context.peer)
    var store = host.storeCheck
    if !isAdmin, store.status == .degraded { store.detail = nil }
    var checks = [store]
    for var problem in facts.problems() {
      if !isAdmin { problem.detail = nil }
      checks.append(problem)
    }
    let waiting = registry.states.waiting.filter { id in
      registry.hosted(id).map { registry.role(of: context.peer, on: $0) != nil } ?? false
    }.map(\.name).sorted()
    checks.append(
      .init(
        name: "instances", status: isAdmin && !registry.quarantined.isEmpty ? .degraded : .ok,
        detail: words(waiting: waiting, quarantined: isAdmin ? registry.quarantined.map(\.id.name) : [])))
    let skewed = host.environment.vendorClocks.far.compactMap { registry.instance(uuid: $0.description) }
      .filter { registry.role(of: context.peer, on: $0) != nil }
    checks.append(.init(farVendorClocksOf: skewed.sorted { $0.id < $1.id }))
    return DaemonHealth.Result(status: checks.map(\.status).max() ?? .ok, checks: checks)
  }

  private static func words(waiting: [String], quarantined: [String]) -> String? {
    var parts: [String] = []
    if !waiting.isEmpty {
      parts.append("need a new credential: \(waiting.prefix(20).joined(separator: ", "))")
    }
    if !quarantined.isEmpty { parts.append("do not open: \(quarantined.prefix(20).joined(separator: ", "))") }
    return parts.isEmpty ? nil : parts.joined(separator: "; ")
  }
}

extension DaemonHealth.Check {
  /// Creates the check of the vendors' clocks, which decide about the expiry of tokens.
  fileprivate init(farVendorClocksOf instances: [HostedInstance]) {
    let words = instances.prefix(20).map { "\($0.id) (\(VendorClock.words($0.actor.vendorClock.correction)))" }
    let detail =
      "By their vendors' responses these clocks differ from this machine's; set its clock, or wait for the vendor: "
    self.init(
      name: "vendorClocks", status: words.isEmpty ? .ok : .degraded,
      detail: words.isEmpty ? nil : detail + words.joined(separator: ", "))
  }
}

extension InstanceHost {
  /// The check of the state and its store for `daemon.health`, with details that only admins may see.
  public var storeCheck: DaemonHealth.Check {
    if let error = registry.availability.failure {
      return .init(name: "state", status: .failing, detail: error.message)
    }
    return switch environment.store.health {
    case .ok: .init(name: "store", status: .ok)
    case .degraded(let why): .init(name: "store", status: .degraded, detail: why)
    case .failing(let error): .init(name: "store", status: .failing, detail: error.message)
    }
  }
}

/// The handlers of all methods: the common ones and those of the kinds.
public enum Handlers {
  /// Returns the complete router, its methods, and the shortcuts of some methods.
  public static func router(
    host: InstanceHost, kinds: [any SDKKind], facts: DaemonFacts, delegates: Delegates
  ) -> (router: CallRouter, methods: [any SDKMethod.Type], shortcuts: [Shortcut]) {
    let registry = host.registry
    let methods = CommonMethods.all + kinds.flatMap { $0.methods }
    let document = DiscoveredDocument {
      OpenRPCDocument.make(
        methods: methods, notifications: CommonMethods.notifications, kinds: kinds.map(\.described))
    }
    var router = CallRouter()
    DaemonHandlers.register(in: &router, host: host, facts: facts, document: document)
    InstanceHandlers.register(in: &router, host: host)
    TokenHandlers.register(in: &router, registry: registry)
    StorageHandlers.register(in: &router, registry: registry)
    PushHandlers.register(in: &router, registry: registry)
    EventHandlers.register(in: &router, host: host)
    DelegateHandlers.register(in: &router, registry: registry, delegates: delegates)
    for kind in kinds { kind.register(in: &router, registry: registry) }
    let shortcuts = [
      Shortcut(RPCDiscover.self) { document.reply() }, Shortcut(TokenGet.self, on: registry),
    ]
    return (router, methods, shortcuts.compactMap { $0 })
  }
}

/// The cached reply to `rpc.discover`. The first call generates it, so that the start of the daemon is not delayed.
final class DiscoveredDocument: Sendable {
  private let text = Mutex<[UInt8]?>(nil)
  private let build: @Sendable () -> JSON

  /// Creates a cache whose document `build` generates.
  init(_ build: @escaping @Sendable () -> JSON) { self.build = build }

  /// Returns the reply as JSON text, which the first call generates.
  func reply() -> [UInt8] {
    if let made = text.withLock({ $0 }) { return made }
    let bytes = JSONWriter.bytes(of: build())
    text.withLock { $0 = bytes }
    return bytes
  }

  /// Generates the OpenRPC document.
  func make() -> JSON { build() }
}
