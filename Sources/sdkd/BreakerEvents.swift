import DelegateBridge
import SDKInstances
import StateStore
import Synchronization

/// An observer that emits an event of the instance when a breaker opens or closes.
final class BreakerEvents: Sendable {
  private let registry = Mutex<InstanceRegistry?>(nil)
  private let operations: Operations

  init(operations: Operations) { self.operations = operations }

  func attach(_ registry: InstanceRegistry) { self.registry.withLock { $0 = registry } }

  func changed(_ key: BridgeKey, isOpen: Bool) {
    guard let instance = registry.withLock({ $0 })?.instance(uuid: key.instance) else { return }
    operations.start { await instance.breakerChanged(isOpen: isOpen) }
  }
}
