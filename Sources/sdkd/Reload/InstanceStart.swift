import SDKInstances
import SDKProtocol
import StateStore

/// Lets calls in once every instance is restored, or answers them with why that can't be.
struct InstanceStart: Sendable {
  let registry: InstanceRegistry
  let gateway: Gateway
  let failing: FailureCell
  let readiness: ReadinessCell

  /// Takes the instances from the store.
  func restore() async throws(SDKError) {
    let state = try await registry.environment.store.load()
    try await registry.environment.events.begin(registry)
    await registry.restore(state)
  }

  /// Answers every call that needs state with this.
  func fail(_ error: SDKError) {
    failing.set(error)
    gateway.open(failing: error)
  }

  /// Serves calls; what failed before is mended.
  func open() {
    failing.set(nil)
    gateway.heal()
    readiness.set()
    gateway.open()
  }
}
