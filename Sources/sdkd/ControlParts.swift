import DelegateBridge
import Glibc
import JSONRPCTransport
import NIOPosix
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore
import Systemd

/// The parts that administer the daemon and answer its callers.
struct ControlParts {
  let metrics: MetricsService
  let keeping: StateKeeping
  let watch: DaemonWatch
  let allowances: UserAllowances
  let admission: PeerAdmission
  let reloader: Reloader
  let gateway: Gateway

  /// Makes the parts for instances that are not restored yet.
  ///
  /// - Parameter group: the event loops of callers.
  init(_ start: Composition, group: MultiThreadedEventLoopGroup, vendors: VendorLinks, domain: DomainParts) {
    let (live, opened, meters) = (start.live, start.opened, start.meters)
    let level = TemporaryLogLevel(
      configured: live.current.log.level, clock: .system, deadlines: domain.deadlines, logger: start.logger
    ) { [log = start.log] in log.setLevel($0) }
    metrics = MetricsService(group: group, operations: domain.operations, meters: meters, logger: start.logger)
    let report = ReloadReport(
      registry: domain.registry, notifier: start.notifier, logger: start.logger, saysReady: start.saysReady,
      accepting: start.accepting, note: { opened.note })
    keeping = StateKeeping(opened: opened, directory: start.paths.state, settings: { live.current.backup })
    watch = DaemonWatch(
      interval: Watchdog.interval() ?? .seconds(30), group: group, vendors: vendors.group,
      operations: domain.operations, registry: domain.registry, events: domain.events, database: opened.database,
      state: start.paths.state, socketFile: start.socketFile, notifier: start.notifier, logger: start.logger)
    allowances = UserAllowances(live.current.limits.connectionsInForce)
    admission = PeerAdmission(registry: domain.registry, allowances: allowances)
    reloader = Reloader(
      load: { [paths = start.paths] in paths.load() },
      parts: ConfiguredParts(
        paths: start.paths, live: live, names: domain.names, registry: domain.registry, delegates: domain.delegates,
        bridge: domain.bridge, listener: start.listener, allowances: allowances, admission: admission, metrics: metrics,
        network: vendors.network, logLevel: level),
      files: FileInstances(
        host: domain.host, directory: ConfigurationFiles(main: start.paths.config).instancesDirectory,
        logger: start.logger),
      operations: domain.operations, deadlines: domain.deadlines, report: report, stateFailure: opened.failure)
    let checks = HealthChecks(
      report: report, metrics: metrics, watch: watch, keeping: keeping, log: start.log, handOver: start.handOver)
    let facts = Self.facts(start, vendors.network, level, checks, keeping, reloader)
    let (router, methods, shortcuts) = Handlers.router(
      host: domain.host, kinds: Kinds.all, facts: facts, delegates: domain.delegates)
    gateway = Gateway(
      router: router, methods: methods, shortcuts: shortcuts, registry: domain.registry,
      operations: domain.operations, events: domain.events, delegates: domain.delegates, logger: start.logger,
      observers: [domain.audit, meters.calls])
    meters.collect(
      from: DomainReading(
        registry: domain.registry, bridge: domain.bridge, delegates: domain.delegates, events: domain.events,
        database: opened.database))
    meters.collectLimits { live.current }
    meters.collect(
      from: HealthReading(
        checks: { [host = domain.host] in [host.storeCheck] + checks.all }, lastBackup: { checks.lastBackup }))
    meters.collect(from: gateway)
  }

  private static func facts(
    _ start: Composition, _ network: VendorNetwork, _ level: TemporaryLogLevel, _ checks: HealthChecks,
    _ keeping: StateKeeping, _ reloader: Reloader
  ) -> DaemonFacts {
    let (live, paths, meters) = (start.live, start.paths, start.meters)
    return DaemonFacts(
      pid: Int(getpid()), startedAt: .now, restartCount: start.opened.store.meta.restartCount,
      paths: { paths.published(unitSockets: live.current.bridge(paths).unitSockets) },
      limits: { live.current.limits.published }, proxy: { network.shown }, problems: { checks.all },
      metrics: { await meters.text() }, reload: { try await reloader.reloadForCaller() },
      logLevel: { level.current }, setLogLevel: { level.set($0) }, backUp: { try await keeping.backUp($0) },
      rotateKey: { try await keeping.rotateKey() })
  }
}

/// The checks of `daemon.health` outside the store, and the time of the newest backup.
private struct HealthChecks: Sendable {
  let report: ReloadReport
  let metrics: MetricsService
  let watch: DaemonWatch
  let keeping: StateKeeping
  let log: LogWriter
  let handOver: HandOver

  var all: [DaemonHealth.Check] {
    // A disk that does not answer would hold the thread that looks at it.
    let kept = watch.isDiskStalled ? [] : keeping.checks
    return [report.health] + handOver.checks + metrics.checks + watch.checks + kept + AuditLog.checks(log.lostAudit)
  }

  var lastBackup: Timestamp? { watch.isDiskStalled ? nil : keeping.lastBackup }
}
