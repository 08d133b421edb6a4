import DelegateBridge
import Glibc
import JSONRPC
import JSONRPCTransport
import Logging
import NIOCore
import NIOPosix
import SDKInstances
import SDKKinds
import SDKProtocol
import ServiceLifecycle
import StateStore
import Systemd
import UnixSignals

/// The parts of a running daemon and how they hang together.
struct Composition {
  let paths: DaemonPaths
  let loaded: ConfigurationLoader.Loaded
  let listener: Listener
  let opened: OpenedState
  let notifier: Notifier
  let logger: Logger
  let audit: AuditTrail
  let meters: Meters
  let saysReady: Bool

  /// Serves until the end is asked for.
  func serve() async throws {
    let configuration = loaded.configuration
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let http = VendorHTTPClient(group: group)
    let operations = Operations()
    let clock = WallClock.system
    let deadlines = Deadlines(clock: clock)
    let events = EventHub(
      store: opened.store, operations: operations, logger: logger,
      maximumSubscriptions: configuration.limits.subscriptions,
      maximumPerUser: configuration.limits.subscriptionsPerUid, onEvent: { audit.heard($0) })
    let breakers = BreakerEvents(operations: operations)
    let delegates = Delegates(
      grace: .seconds(configuration.delegateGrace), operations: operations, logger: logger,
      deadlines: deadlines, memory: opened.database == nil ? nil : DelegateNote(path: "\(paths.state)/delegates.json"))
    let bridge = ProviderBridge(
      options: configuration.bridge(paths), sources: [delegates], logger: logger,
      onBreakerChange: { breakers.changed($0, isOpen: $1) },
      onRun: { [audit, meters] run in
        audit.heard(run)
        meters.providers.count(run)
      })
    let environment = InstanceEnvironment(
      store: opened.store, bridge: bridge, operations: operations, deadlines: deadlines, events: events,
      clock: clock, http: MeasuredHTTP(http, registry: meters.registry), sockets: VendorSocketClient(group: group),
      logger: logger, onRenewal: { [meters] in meters.renewals.count($0) })
    let registry = InstanceRegistry(
      kinds: Kinds.all, access: configuration.access(paths),
      environment: environment, maximumPerUid: configuration.limits.instances)
    breakers.attach(registry)
    delegates.serve(registry)
    audit.serve(registry)
    meters.collect(
      from: DomainReading(
        registry: registry, bridge: bridge, delegates: delegates, events: events, database: opened.database))

    let failing = FailureCell(opened.failure ?? loaded.failure)
    let readiness = ReadinessCell()
    let metrics = await openMetrics(on: group, operations: operations)
    let (router, methods) = Handlers.router(
      registry: registry, kinds: Kinds.all,
      facts: facts(problems: loaded.problems + metrics.problems, failing: { failing.value }), delegates: delegates,
      isReady: { readiness.value })
    let gateway = Gateway(
      router: router, methods: methods, registry: registry, events: events, delegates: delegates, logger: logger,
      observers: [audit, meters.calls])

    let listening = ListenerService(
      listener: listener, group: group,
      settings: ConnectionSettings(
        limits: configuration.transport, takesLargeFrames: { gateway.takesLargeFrames($0) }),
      gateway: gateway, operations: operations, events: events, delegates: delegates, access: { registry.access },
      allowances: UserAllowances(configuration.connections), meter: meters.connections, grace: configuration.grace,
      notifier: notifier)
    let start = StartService(
      registry: registry, gateway: gateway, loaded: loaded, failure: failing.value, readiness: readiness,
      notifier: notifier, logger: logger, saysReady: saysReady)
    var services: [any Service] = []
    if let database = opened.database { services.append(StoreService(store: database)) }
    services += [OperationsService(operations: operations), try DeadlineService(deadlines), start, listening]
    services.append(AuditService(trail: audit, interval: .seconds(60)))
    if let listener = metrics.listener { services.append(MetricsService(listener: listener)) }

    var options = ServiceGroupConfiguration(
      services: services.map { .init(service: $0, successTerminationBehavior: .ignore) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    // Past the grace what still runs is cancelled; acknowledged changes are durable long before.
    options.maximumGracefulShutdownDuration = .seconds(configuration.grace + 10)
    signal(SIGHUP, SIG_IGN)
    let result: Result<Void, any Error>
    do {
      try await ServiceGroup(configuration: options).run()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    audit.flush()
    await opened.database?.close()
    await http.shutdown()
    try? await group.shutdownGracefully()
    try result.get()
  }

  private func facts(
    problems: [DaemonHealth.Check], failing: @escaping @Sendable () -> SDKError?
  ) -> DaemonFacts {
    let limits = loaded.configuration.limits
    return DaemonFacts(
      pid: Int(getpid()), startedAt: .now, restartCount: opened.store.meta.restartCount,
      limits: limits.published, problems: { problems }, failing: failing,
      metrics: { [meters] in await meters.text() })
  }

  /// Serves the metrics where the configuration wants them. The daemon does without, if it can't, and says so.
  private func openMetrics(
    on group: MultiThreadedEventLoopGroup, operations: Operations
  ) async -> (listener: MetricsListener?, problems: [DaemonHealth.Check]) {
    guard let address = loaded.configuration.metricsListen else { return (nil, []) }
    do throws(MetricsListener.Failure) {
      let listener = try await MetricsListener.open(address, on: group) { [meters] deliver in
        operations.start {
          let metrics = await meters.text()
          deliver(metrics.contentType, metrics.text)
        }
      }
      logger.info("Metrics are served at \(address).")
      return (listener, [.init(name: "metrics", status: .ok)])
    } catch {
      logger.error("\(error)")
      return (nil, [.init(name: "metrics", status: .degraded, detail: "\(error)")])
    }
  }

  /// The group's own lines tell of services starting and stopping: of no use to operators.
  private var quiet: Logger {
    var logger = logger
    logger.logLevel = .error
    return logger
  }
}
