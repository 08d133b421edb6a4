public import JSONRPC
public import SDKProtocol

/// The permanent ID of an instance. A new instance with the same name has another one.
public struct InstanceUUID: Sendable, Hashable, CustomStringConvertible {
  /// The UUID as text in lower case.
  public let description: String

  /// Creates the ID from the text of a UUID, without checking it.
  public init(_ text: String) { description = text }

  /// The key of the losses of all deleted instances without events, in ``EventPage/lost``.
  public static let anyDeleted = InstanceUUID("")
}

/// The state that `load` returns.
public struct StoredState: Sendable {
  /// The instances that opened.
  public var instances: [StoredInstance]
  /// The instances that did not open, with the reasons.
  public var quarantined: [QuarantinedInstance]
  /// The last events of deleted instances that contain access rules for the instances' events, oldest first.
  public var deleted: [StoredEvent]

  /// Creates a state.
  public init(
    instances: [StoredInstance] = [], quarantined: [QuarantinedInstance] = [], deleted: [StoredEvent] = []
  ) {
    self.instances = instances
    self.quarantined = quarantined
    self.deleted = deleted
  }
}

/// An instance as stored.
public struct StoredInstance: Sendable, Hashable {
  public var uuid: InstanceUUID
  public var id: InstanceID
  public var createdAt: Timestamp
  /// Kind, source, settings, provider, access, labels and owner: the data that a wipe keeps. Sealed.
  public var definition: JSON
  /// User, credential and the kind's own state: data that a wipe destroys. Sealed.
  public var identity: JSON?
  /// A number that every login, logout, identity change and wipe raises.
  public var epoch: UInt64
  /// A number that every wipe raises.
  public var storageEpoch: UInt64
  /// The push registrations, sorted by ID. A wipe destroys them.
  public var pushes: [StoredPush]
  /// The outbox entries, sorted by ID. A wipe keeps them.
  public var outbox: [StoredOutboxEntry]

  /// Creates an instance.
  public init(
    uuid: InstanceUUID, id: InstanceID, createdAt: Timestamp, definition: JSON, identity: JSON? = nil,
    epoch: UInt64 = 0, storageEpoch: UInt64 = 0, pushes: [StoredPush] = [], outbox: [StoredOutboxEntry] = []
  ) {
    self.uuid = uuid
    self.id = id
    self.createdAt = createdAt
    self.definition = definition
    self.identity = identity
    self.epoch = epoch
    self.storageEpoch = storageEpoch
    self.pushes = pushes
    self.outbox = outbox
  }
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

  /// Creates a value with its storage epoch.
  public init(value: JSON?, storageEpoch: UInt64) {
    self.value = value
    self.storageEpoch = storageEpoch
  }
}

/// A page of the keys in an instance's storage, with the storage epoch from the same snapshot.
public struct StoredKeys: Sendable {
  /// The keys with the sizes of their values in bytes.
  public var keys: [(key: String, bytes: Int)]
  public var storageEpoch: UInt64

  /// Creates a page of keys.
  public init(keys: [(key: String, bytes: Int)], storageEpoch: UInt64) {
    self.keys = keys
    self.storageEpoch = storageEpoch
  }
}

/// An event as stored. `position` is its place in the daemon's single event order; it starts at 1 and is never reused.
public struct StoredEvent: Sendable, Hashable {
  public var position: UInt64
  public var uuid: InstanceUUID
  public var id: InstanceID
  public var kind: KindName
  public var time: Timestamp
  public var type: EventType
  public var service: String?
  public var operation: String?
  public var data: JSONObject
  /// The access rules for the events of a deleted instance, written with its last event.
  public var audience: JSON?

  /// Creates an event.
  public init(
    position: UInt64, uuid: InstanceUUID, id: InstanceID, kind: KindName, time: Timestamp, type: EventType,
    service: String? = nil, operation: String? = nil, data: JSONObject, audience: JSON? = nil
  ) {
    self.position = position
    self.uuid = uuid
    self.id = id
    self.kind = kind
    self.time = time
    self.type = type
    self.service = service
    self.operation = operation
    self.data = data
    self.audience = audience
  }
}

/// The health of the store.
public enum StoreHealth: Sendable, Hashable {
  case ok
  /// Writes fail at the moment; acknowledged data is served from memory.
  case degraded(String)
  /// No data can be read, because the key or a usable database is missing.
  case failing(SDKError)
}
