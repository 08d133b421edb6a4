import JSONRPC
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

/// The counts of a wipe, updated by the later parts of its change.
struct WipeCount {
  private let former: JSON?
  private(set) var wiped: CommitResult.Wiped

  /// Creates the counts for the wipe of an instance with the identity `former`.
  init(of former: JSON?, storage: Int, pushes: Int, storageEpoch: UInt64) {
    self.former = former
    wiped = CommitResult.Wiped(
      storage: storage, tokens: StoredIdentity.tokenCount(in: former), pushes: pushes, storageEpoch: storageEpoch)
  }

  /// Subtracts the tokens that the same change writes again.
  mutating func identified(as identity: JSON?) {
    wiped.tokens = StoredIdentity.tokenCount(in: former, notKeptIn: identity)
  }
}
