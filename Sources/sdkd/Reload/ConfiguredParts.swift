import DelegateBridge
import JSONRPCTransport
import Logging
import SDKInstances
import SDKKinds
import SDKProtocol

/// The parts that keep what they made of the configuration, such as open connections, so that a reload changes them.
///
/// Other parts read `LiveConfiguration` each time, such as the limits on instances, subscriptions and stored events.
struct ConfiguredParts: Sendable {
  let paths: DaemonPaths
  let live: LiveConfiguration
  let names: ResolvedNames
  let registry: InstanceRegistry
  let delegates: Delegates
  let bridge: ProviderBridge
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
    live.use(configuration)
    logLevel.use(configuration.log.level)
    registry.use(configuration.access(paths, names: names))
    network.use(configuration.network.options)
    listener.use(configuration.limits.transport)
    allowances.use(configuration.limits.connectionsInForce)
    bridge.use(configuration.bridge(paths))
    delegates.use(grace: configuration.delegate.grace)
    guard let problem = await metrics.use(configuration.metrics.listen) else { return [] }
    return [DaemonReload.Problem(key: "metrics.listen", message: problem)]
  }
}
