import SDKInstances
import SDKProtocol
import StateStore

/// The admission of calls: once every instance is restored, or with an error for those that need state.
struct InstanceStart: Sendable {
  let registry: InstanceRegistry
  let gateway: Gateway
  let failing: FailureCell
  let readiness: ReadinessCell

  /// Restores the instances from the store.
  func restore() async throws(SDKError) {
    let state = try await registry.environment.store.load()
    try await registry.environment.events.begin(registry)
    await registry.restore(state)
  }

  /// Makes every call that needs state fail with `error`.
  func fail(_ error: SDKError) {
    failing.set(error)
    gateway.open(failing: error)
  }

  /// Admits calls and clears an earlier failure.
  func open() {
    failing.set(nil)
    gateway.heal()
    readiness.set()
    gateway.open()
  }
}
