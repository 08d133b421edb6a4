import Logging
import SDKInstances
import SDKProtocol
import ServiceLifecycle
import StateStore
import Systemd

/// Restores every instance, lets calls in, and says that the daemon is ready.
struct StartService: Service {
  let registry: InstanceRegistry
  let gateway: Gateway
  let loaded: ConfigurationLoader.Loaded
  let failure: SDKError?
  let readiness: ReadinessCell
  let notifier: Notifier
  let logger: Logger
  let saysReady: Bool

  func run() async throws {
    if let failure {
      gateway.open(failing: failure)
      announce("degraded: \(failure.message)")
    } else {
      do throws(SDKError) {
        try await restore()
        readiness.set()
        gateway.open()
        announce(summary)
      } catch {
        gateway.open(failing: error)
        logger.critical("The state can't be read: \(error.message)")
        announce("degraded: \(error.message)")
      }
    }
    try? await gracefulShutdown()
  }

  private func restore() async throws(SDKError) {
    let registry = registry
    let state = try await registry.environment.store.load()
    try await registry.environment.events.begin(registry)
    await registry.restore(state)
    await FileInstances(registry: registry, logger: logger, deletesMissing: loaded.mistakes.isEmpty)
      .apply(loaded.instances)
  }

  private var summary: String {
    let instances = registry.instances
    let waiting = instances.count { $0.state == .reauthNeeded || $0.state == .locked }
    let broken = registry.quarantined.count
    return "\(instances.count) instances, \(waiting) waiting for a credential, \(broken) set aside"
  }

  private func announce(_ status: String) {
    logger.info("sdkd \(SDKVersion.program) is ready: \(status)")
    notifier.ready(status: status)
    if saysReady { StandardError.write("sdkd: ready") }
  }
}
