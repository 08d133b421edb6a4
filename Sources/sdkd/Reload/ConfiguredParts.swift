import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore
import Synchronization

/// The parts that the configuration affects, so that a new one can be applied while the daemon runs.
///
/// Other parts read `LiveConfiguration` each time: the grace of a shutdown, the backups of the state.
struct ConfiguredParts: Sendable {
  let paths: DaemonPaths
  let live: LiveConfiguration
  let names: ResolvedNames
  let registry: InstanceRegistry
  let events: EventHub
  let delegates: Delegates
  let bridge: ProviderBridge
  let database: SQLiteStateStore?
  let listener: Listener
  let allowances: UserAllowances
  let admission: PeerAdmission
  let metrics: MetricsService
  let network: VendorNetwork
  let logLevel: TemporaryLogLevel

  /// Has the admission of connections take over the present rules.
  func updateAdmission() async { await admission.update(listener.connections) }

  /// Applies a configuration, also to existing connections and instances.
  ///
  /// - Returns: the settings that could not be applied.
  func use(_ configuration: Configuration) async -> [DaemonReload.Problem] {
    logLevel.use(configuration.log.level)
    registry.use(
      access: configuration.access(paths, names: names), maximumPerUid: configuration.limits.instances)
    network.use(configuration.network.options)
    listener.use(configuration.limits.transport)
    allowances.use(configuration.limits.connectionsInForce)
    bridge.use(configuration.bridge(paths))
    delegates.use(grace: configuration.delegate.grace)
    await events.use(configuration.limits.subscriptions)
    await database?.use(configuration.events.retention)
    live.use(configuration)
    guard let problem = await metrics.use(configuration.metrics.listen) else { return [] }
    return [DaemonReload.Problem(key: "metrics.listen", message: problem)]
  }
}

/// The configuration in force, for parts that read it whenever they need it.
final class LiveConfiguration: Sendable {
  private let state: Mutex<Configuration>

  init(_ configuration: Configuration) { state = Mutex(configuration) }

  /// The configuration that is now in force.
  var current: Configuration { state.withLock { $0 } }

  /// Replaces the configuration.
  func use(_ configuration: Configuration) { state.withLock { $0 = configuration } }
}
