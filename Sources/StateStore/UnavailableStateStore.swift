import Crypto
public import SDKProtocol

/// Stands in when a state can't be opened: every call that needs state is answered with the reason.
public struct UnavailableStateStore: StateStore {
  /// Why the state can't be opened.
  public let error: SDKError
  public let cursors = CursorCoder(key: SymmetricKey(size: .bits256), stateID: "unavailable")
  public let meta = StoreMeta(stateID: "unavailable", restartCount: 0)

  /// A store that answers everything with this error.
  public init(error: SDKError) { self.error = error }

  public var health: StoreHealth { .failing(error) }

  public func load() async throws(SDKError) -> StoredState { throw error }
  public func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult { throw error }
  public func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? { throw error }
  public func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] { throw error }
  public func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] { throw error }
  public func eventBounds() async throws(SDKError) -> EventBounds { throw error }
}
