import Crypto
public import SDKProtocol

/// A placeholder for a state that could not be opened. Every call fails with the reason.
public struct UnavailableStateStore: StateStore {
  private let error: SDKError
  public let cursors: CursorCoder
  public let meta: StoreMeta

  /// Creates a store whose calls fail with this error.
  public init(_ error: SDKError) {
    self.error = error
    meta = StoreMeta(stateID: InstanceUUID.random().description, restartCount: 0)
    cursors = CursorCoder(key: SymmetricKey(size: .bits256), stateID: meta.stateID)
  }

  public func load() async throws(SDKError) -> StoredState { throw error }
  public func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult { throw error }
  public func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    throw error
  }
  public func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] {
    throw error
  }
  public func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    throw error
  }
  public func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] { throw error }
  public func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage { throw error }
  public var health: StoreHealth { .failing(error) }
}
