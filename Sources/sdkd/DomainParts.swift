import DelegateBridge
import Linux
import NIOPosix
import SDKInstances
import SDKKinds
import Systemd

/// The instances and the parts that they share, each made after the parts that it needs.
///
/// Instances need the bridge and the event hub, which look instances up. So the registry is made first and is empty, and
/// `InstanceHost`, which adds instances to it, is made last.
struct DomainParts {
  let operations: Operations
  let deadlines: Deadlines
  let names: ResolvedNames
  let registry: InstanceRegistry
  let audit: AuditTrail
  let events: EventHub
  let delegates: Delegates
  let bridge: ProviderBridge
  let host: InstanceHost

  /// Makes the parts.
  ///
  /// - Parameter timer: fires when a deadline has passed.
  init(_ start: Composition, timer: WallClockTimer, vendors: VendorLinks, operations: Operations) {
    let (live, paths, logger) = (start.live, start.paths, start.logger)
    let configuration = live.current
    let clock = WallClock.system
    let deadlines = Deadlines(clock: clock, timer: ArmedTimer(timer: timer))
    names = ResolvedNames(readSubordinates: { SubordinateFile.read() }) { body throws in
      try SystemThread.start(name: "names", body: body)
    }
    let registry = InstanceRegistry(
      kinds: Kinds.all, access: configuration.access(paths, names: names), logger: logger,
      limits: { live.current.limits.instances })
    let audit = AuditTrail(registry: registry) { [log = start.log] in log.write(AuditLog.logRecord($0)) }
    events = EventHub(
      store: start.opened.store, directory: registry, operations: operations, logger: logger,
      limits: { live.current.limits.subscriptions }, onEvent: { audit.record($0) })
    delegates = Delegates(
      instances: registry, grace: configuration.delegate.grace, logger: logger,
      memory: start.opened.database == nil ? nil : DelegateNote(path: "\(paths.state)/delegates.json"), now: clock.now,
      start: operations.start, later: { deadlines.set("delegates", at: $0, $1) })
    bridge = ProviderBridge(
      options: configuration.bridge(paths), sources: [delegates], logger: logger,
      onBreakerChange: { key, isOpen in
        guard let instance = registry.instance(uuid: key.instance) else { return }
        operations.start { await instance.breakerChanged(isOpen: isOpen) }
      },
      onRun: { [meters = start.meters] run in
        audit.record(run)
        meters.providers.count(run)
      })
    host = InstanceHost(
      registry, store: start.opened.store, bridge: bridge, operations: operations, deadlines: deadlines,
      events: events, clock: clock, http: MeasuredHTTP(vendors.http, registry: start.meters.registry),
      sockets: VendorSocketClient(group: vendors.group, network: vendors.network), logger: logger,
      onRenewal: { [meters = start.meters] in meters.renewals.count($0) })
    (self.operations, self.deadlines, self.registry, self.audit) = (operations, deadlines, registry, audit)
  }
}

/// The clients for requests to vendors.
///
/// Vendors have an event loop of their own, so that their traffic and TLS, with hundreds of connections, delay no caller.
/// A single one never occupies more than one processor.
struct VendorLinks {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  let network: VendorNetwork
  let http: VendorHTTPClient

  /// Makes the clients, without connections.
  init(_ options: NetworkOptions) {
    network = VendorNetwork(options)
    http = VendorHTTPClient(group: group, network: network)
  }
}
