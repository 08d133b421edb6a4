import Concurrency
import DelegateBridge
import JSONRPCTransport
import Logging
import NIOCore
import NIOPosix
import SDKInstances
import SDKKinds
import ServiceLifecycle
import StateStore
import Systemd
import UnixSignals

/// The resources that the start has opened. Makes the daemon's parts from them and runs these.
struct Composition {
  let paths: DaemonPaths
  let loaded: ConfigurationLoader.Loaded
  let live: LiveConfiguration
  let listener: Listener
  let opened: OpenedState
  let notifier: Notifier
  let logger: Logger
  let meters: Meters
  let log: LogWriter
  let saysReady: Bool
  /// Restarts the daemon when its state becomes writable; `nil` when it does not wait for that.
  let restart: ProgramRestart?
  let socketFile: ControlSocketFile?
  let handOver: HandOver
  /// The connections of the former daemon.
  let handed: HandedConnections
  /// Resolved when connections are accepted; with an error if they never will be.
  let accepting = Promise<Void>()

  /// Serves until the daemon is requested to stop.
  func serve() async throws {
    let timer = try WallClockTimer()
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let vendors = VendorLinks(loaded.configuration.network.options)
    let priority = CallerPriority(group: group, logger: logger)
    let operations = Operations(onRush: priority.follow)
    // The threads have inherited a value, which can be another one than 0.
    priority.follow(operations)
    let domain = DomainParts(self, timer: timer, vendors: vendors, operations: operations)
    domain.audit.record(opened.store.meta)
    let control = ControlParts(self, group: group, vendors: vendors, domain: domain)
    _ = await control.metrics.use(loaded.configuration.metrics.listen)
    let services = try services(timer, group, vendors, domain, control)
    var options = ServiceGroupConfiguration(
      // Without a name the library dumps each service with all that it holds into a text.
      services: services.map {
        .init(service: $0, successTerminationBehavior: .ignore, serviceName: "\(type(of: $0))")
      },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    // Each service bounds its own shutdown. `[shutdown] grace` can change while the daemon runs, so this is only an
    // upper bound.
    options.maximumGracefulShutdownDuration = .seconds(660)
    try control.watch.start()
    let result: Result<Void, any Error>
    let serviceGroup = ServiceGroup(configuration: options)
    let replacement = Task { [handOver] in
      for await _ in await UnixSignalsSequence(trapping: .sigusr2) {
        handOver.request()
        await serviceGroup.triggerGracefulShutdown()
      }
    }
    do {
      try await serviceGroup.run()
      result = .success(())
    } catch {
      result = .failure(error)
    }
    control.watch.stop()
    await domain.operations.drain.settle()
    await domain.bridge.settle()
    domain.audit.flush()
    await opened.database?.close()
    withExtendedLifetime(opened.hold) {}
    await vendors.http.shutdown()
    try? await vendors.group.shutdownGracefully()
    try? await group.shutdownGracefully()
    replacement.cancel()
    try result.get()
  }

  /// Returns what runs until the end. A service ends after those behind it.
  private func services(
    _ timer: WallClockTimer, _ group: MultiThreadedEventLoopGroup, _ vendors: VendorLinks, _ domain: DomainParts,
    _ control: ControlParts
  ) throws -> [any Service] {
    let (operations, names, registry) = (domain.operations, domain.names, domain.registry)
    let (http, live, admission) = (vendors.http, self.live, control.admission)
    var services: [any Service] = []
    if let database = opened.database { services.append(StoreService(store: database)) }
    services += [
      OperationsService(
        operations: operations,
        // The second is for what `ListenerService` has ended after the grace.
        patience: { operations.drain.left(of: live.current.shutdown.grace) + .seconds(1) },
        hangUp: { await http.shutdown() }),
      try DeadlineService(timer, domain.deadlines, domain.host),
    ]
    // A backup that takes long must not delay the end of the connections.
    if let backups = control.keeping.service(logger) { services.append(backups) }
    if let healing = healing(domain.audit) { services.append(healing) }
    services += [
      StartService(reloader: control.reloader, loaded: loaded),
      ListenerService(
        listener: listener, group: group, live: live, gateway: control.gateway, operations: operations,
        events: domain.events, delegates: domain.delegates, bridge: domain.bridge, admission: admission,
        allowances: control.allowances, meter: meters.connections, notifier: notifier, socketFile: socketFile,
        registry: domain.registry, database: opened.database, handOver: handOver, handed: handed,
        accepting: accepting, hangUp: { await http.shutdown() }),
      RepeatingService(interval: .seconds(60)) { [audit = domain.audit] in audit.flush() }, control.metrics,
      // Users and groups are added and removed while the daemon runs.
      RepeatingService(interval: .seconds(30)) { names.refresh(registry.namesInUse) },
      RepeatingService(interval: .seconds(1)) { await http.closeIdle() },
      RepeatingService(interval: .seconds(10)) { [heap = HeapTrimmer(logger: logger)] in await heap.look() },
      // Rules change while connections stay open.
      RepeatingService(interval: .seconds(1)) { [listener] in await admission.update(listener.connections) },
      HangupService(reloader: control.reloader, operations: operations),
    ]
    #if DEBUG
      if DebugWedge.part != nil {
        services.append(
          DebugWedge(group: group, operations: operations, registry: registry, database: opened.database))
      }
    #endif
    return services
  }

  /// Returns the service that waits until the state can be written; `nil` unless the daemon waits for that.
  private func healing(_ audit: AuditTrail) -> StateHealingService? {
    restart.map { restart in
      StateHealingService(
        directory: paths.state, restart: restart,
        flush: { [log] in
          audit.flush()
          _ = log.flush(deadline: .now + .seconds(2))
        }, logger: logger)
    }
  }

  /// The logger of the service group. Its messages about starting and stopping services would not help operators.
  private var quiet: Logger {
    var logger = logger
    logger.logLevel = .error
    return logger
  }
}
