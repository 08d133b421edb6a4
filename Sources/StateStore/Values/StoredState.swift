public import JSONRPC
public import SDKProtocol

/// The state that `load` returns.
public struct StoredState: Sendable {
  /// The instances that opened.
  public var instances: [StoredInstance] = []
  /// The instances that did not open, with the reasons.
  public var quarantined: [QuarantinedInstance] = []
  /// The last events of deleted instances that contain access rules for the instances' events, oldest first.
  public var deleted: [StoredEvent] = []
}

/// An instance on disk that can't be opened.
public struct QuarantinedInstance: Sendable, Hashable {
  public var uuid: InstanceUUID
  public var id: InstanceID
  /// A message for the operator about what does not open.
  public var problem: String
  /// The time of creation; `nil` if it can't be read.
  public var createdAt: Timestamp?

  /// Creates a quarantined instance.
  public init(uuid: InstanceUUID, id: InstanceID, problem: String, createdAt: Timestamp? = nil) {
    self.uuid = uuid
    self.id = id
    self.problem = problem
    self.createdAt = createdAt
  }
}

/// The value of one key in an instance's storage, with the storage epoch from the same snapshot.
public struct StoredValue: Sendable, Hashable {
  /// The value; `nil` if the key has none.
  public var value: JSON?
  public var storageEpoch: UInt64
}

/// A page of the keys in an instance's storage, with the storage epoch from the same snapshot.
public struct StoredKeys: Sendable {
  /// The keys with the sizes of their values in bytes.
  public var keys: [(key: String, bytes: Int)]
  public var storageEpoch: UInt64
}

/// The health of the store.
public enum StoreHealth: Sendable, Hashable {
  case ok
  /// Writes fail at the moment; acknowledged data is served from memory.
  case degraded(String)
  /// No data can be read, because the key or a usable database is missing.
  case failing(SDKError)
}
