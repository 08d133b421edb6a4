import SDKProtocol
import Synchronization

/// How the store is, for whoever asks.
final class StoreStatus: Sendable {
  private let value = Mutex(StoreHealth.ok)

  var health: StoreHealth { value.withLock { $0 } }

  /// Replaces the health; the one before.
  @discardableResult
  func set(_ health: StoreHealth) -> StoreHealth {
    value.withLock { value in
      defer { value = health }
      return value
    }
  }
}
