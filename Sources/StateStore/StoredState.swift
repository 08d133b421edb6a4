public import JSONRPC
public import SDKProtocol

/// The identity of an instance for its whole life; a new instance of the same name has another.
public struct InstanceUUID: Sendable, Hashable, CustomStringConvertible {
  /// A lower-case UUID.
  public let description: String

  /// A UUID that is known.
  public init(_ text: String) { description = text }
}

/// What `load` gives.
public struct StoredState: Sendable {
  /// The instances that opened.
  public var instances: [StoredInstance]
  /// Those that did not, with why.
  public var quarantined: [QuarantinedInstance]
  /// The last events of deleted instances, where they say who may see the instances' events; oldest first.
  public var deleted: [StoredEvent]

  /// A state with these instances.
  public init(
    instances: [StoredInstance] = [], quarantined: [QuarantinedInstance] = [], deleted: [StoredEvent] = []
  ) {
    self.instances = instances
    self.quarantined = quarantined
    self.deleted = deleted
  }
}

/// One instance as stored.
public struct StoredInstance: Sendable, Hashable {
  public var uuid: InstanceUUID
  public var id: InstanceID
  public var createdAt: Timestamp
  /// Kind, source, settings, provider, access, labels, owner: what outlives a wipe. Sealed.
  public var definition: JSON
  /// User, credential and the kind's own state: what a wipe destroys. Sealed.
  public var identity: JSON?
  /// Raised with every login, logout, identity change and wipe.
  public var epoch: UInt64
  /// Raised with every wipe.
  public var storageEpoch: UInt64
  /// What a wipe destroys too; sorted by id.
  public var pushes: [StoredPush]
  /// What outlives a wipe; sorted by id.
  public var outbox: [StoredOutboxEntry]

  /// An instance with these parts.
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

/// An instance that is on disk but can't be opened.
public struct QuarantinedInstance: Sendable, Hashable {
  public var uuid: InstanceUUID
  public var id: InstanceID
  /// What does not open, in words for the operator.
  public var problem: String
  /// When it was made; `nil` where that can't be read.
  public var createdAt: Timestamp?

  /// A quarantined instance.
  public init(uuid: InstanceUUID, id: InstanceID, problem: String, createdAt: Timestamp? = nil) {
    self.uuid = uuid
    self.id = id
    self.problem = problem
    self.createdAt = createdAt
  }
}

/// The value of one key in an instance's storage, and the storage epoch of the same moment.
public struct StoredValue: Sendable, Hashable {
  /// The value; `nil` if there is none.
  public var value: JSON?
  public var storageEpoch: UInt64

  /// A value and its storage epoch.
  public init(value: JSON?, storageEpoch: UInt64) {
    self.value = value
    self.storageEpoch = storageEpoch
  }
}

/// A page of the keys in an instance's storage, and the storage epoch of the same moment.
public struct StoredKeys: Sendable {
  /// The keys with the size of their values in bytes.
  public var keys: [(key: String, bytes: Int)]
  public var storageEpoch: UInt64

  /// Keys and their storage epoch.
  public init(keys: [(key: String, bytes: Int)], storageEpoch: UInt64) {
    self.keys = keys
    self.storageEpoch = storageEpoch
  }
}

/// An event as stored; `position` is its place in the one order of the daemon, from 1, never reused.
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
  /// Who may see the events of an instance that is gone; written with its last one.
  public var audience: JSON?

  /// An event with these parts.
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

/// Where the log of events begins and ends.
public struct EventBounds: Sendable, Hashable {
  /// The position of the newest event ever written; 0 without any.
  public var newest: UInt64
  /// The newest position whose event was dropped by retention; a cursor before it has a gap.
  public var dropped: UInt64
  /// The same for each instance that lost events: a cursor has a gap only if it stands before the one of an instance
  /// that is asked for, so that a busy instance does not cost a quiet one its place.
  public var droppedByInstance: [InstanceUUID: UInt64]

  /// Bounds.
  public init(newest: UInt64, dropped: UInt64, droppedByInstance: [InstanceUUID: UInt64] = [:]) {
    self.newest = newest
    self.dropped = dropped
    self.droppedByInstance = droppedByInstance
  }
}

/// How the store is.
public enum StoreHealth: Sendable, Hashable {
  case ok
  /// Writes fail at the moment; what was acknowledged is served from memory.
  case degraded(String)
  /// Nothing can be read: no key, or no database.
  case failing(SDKError)
}
