import DelegateBridge
import Glibc
import JSONRPC
import JSONRPCTransport
import Linux
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

/// The parts of a running daemon and their connections.
struct Composition {
  let paths: DaemonPaths
  let loaded: ConfigurationLoader.Loaded
  let listener: Listener
  let opened: OpenedState
  let notifier: Notifier
  let logger: Logger
  let audit: AuditTrail
  let meters: Meters
  let log: LogWriter
  let saysReady: Bool
  /// Restarts the daemon when its state becomes writable; `nil` when it does not wait for that.
  let restart: ProgramRestart?
  let socketFile: ControlSocketFile?

  /// Serves until the daemon is requested to stop.
  func serve() async throws {
    let configuration = loaded.configuration
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    // Vendors have an event loop of their own, so that their traffic and TLS, with hundreds of connections, delay no
    // caller. A single one never occupies more than one processor.
    let vendors = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let network = VendorNetwork(configuration.network.options)
    let http = VendorHTTPClient(group: vendors, network: network)
    let operations = Operations()
    let clock = WallClock.system
    let deadlines = Deadlines(clock: clock)
    let logLevel = TemporaryLogLevel(
      configured: configuration.log.level, clock: clock, deadlines: deadlines, logger: logger
    ) { [log] in log.setLevel($0) }
    let events = EventHub(
      store: opened.store, operations: operations, logger: logger, limits: configuration.limits.subscriptions,
      onEvent: { audit.record($0) })
    let breakers = BreakerEvents(operations: operations)
    let delegates = Delegates(
      grace: configuration.delegate.grace, logger: logger,
      memory: opened.database == nil ? nil : DelegateNote(path: "\(paths.state)/delegates.json"), now: clock.now,
      start: operations.start, later: { deadlines.set("delegates", at: $0, $1) })
    let bridge = ProviderBridge(
      options: configuration.bridge(paths), sources: [delegates], logger: logger,
      onBreakerChange: { breakers.changed($0, isOpen: $1) },
      onRun: { [audit, meters] run in
        audit.record(run)
        meters.providers.count(run)
      })
    let environment = InstanceEnvironment(
      store: opened.store, bridge: bridge, operations: operations, deadlines: deadlines, events: events,
      clock: clock, http: MeasuredHTTP(http, registry: meters.registry),
      sockets: VendorSocketClient(group: vendors, network: network), logger: logger,
      onRenewal: { [meters] in meters.renewals.count($0) })
    let names = ResolvedNames(readSubordinates: { SubordinateFile.read() }) { body throws in
      try SystemThread.start(name: "names", body: body)
    }
    let registry = InstanceRegistry(
      kinds: Kinds.all, access: configuration.access(paths, names: names),
      environment: environment, maximumPerUid: configuration.limits.instances)
    breakers.attach(registry)
    delegates.serve(registry)
    audit.serve(registry)
    meters.collect(
      from: DomainReading(
        registry: registry, bridge: bridge, delegates: delegates, events: events, database: opened.database))

    let live = LiveConfiguration(configuration)
    let metrics = MetricsService(group: group, operations: operations, meters: meters, logger: logger)
    _ = await metrics.use(configuration.metrics.listen)
    let report = ReloadReport(
      registry: registry, notifier: notifier, logger: logger, saysReady: saysReady, note: opened.note)
    let keeping = StateKeeping(opened: opened, directory: paths.state, settings: { live.current.backup })
    let reloading = ReloadEntrance(operations: operations)
    let watch = DaemonWatch(
      interval: Watchdog.interval() ?? .seconds(30), group: group, vendors: vendors, operations: operations,
      registry: registry, database: opened.database, state: paths.state, socketFile: socketFile, notifier: notifier,
      logger: logger)
    let problems: @Sendable () -> [DaemonHealth.Check] = { [log] in
      // A disk that does not answer would hold the thread that looks at it.
      let kept = watch.isDiskStalled ? [] : keeping.checks
      return [report.health] + metrics.checks + watch.checks + kept + AuditLog.checks(log.lostAudit)
    }
    meters.collectLimits { live.current }
    meters.collect(
      from: HealthReading(
        checks: { [registry.storeCheck] + problems() },
        lastBackup: { watch.isDiskStalled ? nil : keeping.lastBackup }))
    let (router, methods, shortcuts) = Handlers.router(
      registry: registry, kinds: Kinds.all,
      facts: DaemonFacts(
        pid: Int(getpid()), startedAt: .now, restartCount: opened.store.meta.restartCount,
        paths: { paths.published(unitSockets: live.current.bridge(paths).unitSockets) },
        limits: { live.current.limits.published }, proxy: { network.shown },
        problems: problems,
        metrics: { [meters] in await meters.text() },
        reload: { try await reloading.reload() }, logLevel: { logLevel.current }, setLogLevel: { logLevel.set($0) },
        backUp: { try await keeping.backUp($0) },
        rotateKey: { try await keeping.rotateKey() }), delegates: delegates)
    let gateway = Gateway(
      router: router, methods: methods, shortcuts: shortcuts, registry: registry, events: events,
      delegates: delegates, logger: logger,
      observers: [audit, meters.calls])
    meters.collect(from: gateway)

    let allowances = UserAllowances(configuration.limits.connectionsInForce)
    let admission = PeerAdmission(registry: registry, allowances: allowances)
    let reloader = Reloader(
      load: { [paths] in paths.load() },
      parts: ConfiguredParts(
        paths: paths, live: live, names: names, registry: registry, events: events, delegates: delegates,
        bridge: bridge,
        database: opened.database, listener: listener, allowances: allowances, admission: admission, metrics: metrics,
        network: network, logLevel: logLevel),
      files: FileInstances(
        registry: registry, directory: ConfigurationFiles(main: paths.config).instancesDirectory, logger: logger),
      operations: operations, deadlines: deadlines, report: report,
      stateFailure: opened.failure)
    reloading.serve(reloader)
    let listening = ListenerService(
      listener: listener, group: group, live: live, gateway: gateway, operations: operations, events: events,
      delegates: delegates, bridge: bridge, admission: admission, allowances: allowances, meter: meters.connections,
      notifier: notifier, socketFile: socketFile, hangUp: { await http.shutdown() })
    var services: [any Service] = []
    if let database = opened.database { services.append(StoreService(store: database)) }
    services += [
      OperationsService(
        operations: operations,
        // The second is for what `ListenerService` has ended after the grace.
        patience: { operations.drain.left(of: live.current.shutdown.grace) + .seconds(1) },
        hangUp: { await http.shutdown() }),
      try DeadlineService(deadlines),
    ]
    // A service ends after those behind it: a backup that takes long must not delay the end of the connections.
    if let backups = keeping.service(logger) { services.append(backups) }
    if let restart {
      services.append(
        StateHealingService(
          directory: paths.state, restart: restart,
          flush: { [audit, log] in
            audit.flush()
            _ = log.flush(deadline: .now + .seconds(2))
          }, logger: logger))
    }
    services += [StartService(reloader: reloader, loaded: loaded), listening]
    services += [
      RepeatingService(interval: .seconds(60)) { [audit] in audit.flush() }, metrics,
      // Users and groups are added and removed while the daemon runs.
      RepeatingService(interval: .seconds(30)) { names.refresh(registry.namesInUse) },
      RepeatingService(interval: .seconds(1)) { await http.closeIdle() },
      // Rules change while connections stay open.
      RepeatingService(interval: .seconds(1)) { [listener] in await admission.update(listener.connections) },
    ]
    services.append(HangupService(reloader: reloader, operations: operations))

    #if DEBUG
      if DebugWedge.part != nil {
        services.append(
          DebugWedge(group: group, operations: operations, registry: registry, database: opened.database))
      }
    #endif
    var options = ServiceGroupConfiguration(
      // Without a name the library dumps each service with all that it holds into a text.
      services: services.map {
        .init(service: $0, successTerminationBehavior: .ignore, serviceName: "\(type(of: $0))")
      },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    // Each service bounds its own shutdown. `[shutdown] grace` can change while the daemon runs, so this is only an
    // upper bound.
    options.maximumGracefulShutdownDuration = .seconds(660)
    try watch.start()
    let result: Result<Void, any Error>
    do {
      try await ServiceGroup(configuration: options).run()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    watch.stop()
    await operations.drain.settle()
    await bridge.settle()
    audit.flush()
    await opened.database?.close()
    withExtendedLifetime(opened.hold) {}
    await http.shutdown()
    try? await vendors.shutdownGracefully()
    try? await group.shutdownGracefully()
    try result.get()
  }

  /// The logger of the service group. Its messages about starting and stopping services would not help operators.
  private var quiet: Logger {
    var logger = logger
    logger.logLevel = .error
    return logger
  }
}
