import SDKProtocol
import Synchronization

/// The present health of the store.
final class StoreStatus: Sendable {
  private let value = Mutex(StoreHealth.ok)

  var health: StoreHealth { value.withLock { $0 } }

  /// Replaces the health and returns the former one.
  @discardableResult
  func set(_ health: StoreHealth) -> StoreHealth {
    value.withLock { value in
      defer { value = health }
      return value
    }
  }
}
