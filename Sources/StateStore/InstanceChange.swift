public import JSONRPC
public import SDKProtocol

/// One change of one instance, applied as a whole or not at all.
public struct InstanceChange: Sendable {
  /// One part of a change; parts are applied in order.
  public enum Part: Sendable {
    /// A new instance. `instanceExists` when its id is taken, also by a quarantined one.
    case create(StoredInstance)
    /// Replaces the definition.
    case define(JSON)
    /// Replaces the identity; `nil` clears it.
    case identify(JSON?)
    /// Raises the epoch to this.
    case raiseEpoch(to: UInt64)
    /// Writes a value; `limit` is the sum of keys and values in bytes that the instance may store.
    case putValue(key: String, value: JSON, limit: Int)
    /// Removes a value if it is there.
    case deleteValue(key: String)
    /// Writes a push registration, or replaces the one with this id. `storageFull` beyond
    /// `StoredPush.maximumCount`.
    case putPush(id: String, JSON)
    /// Removes a push registration if it is there.
    case deletePush(id: String)
    /// Writes an outbox entry, or replaces the one with this id, which keeps its key. `storageFull` beyond
    /// `StoredOutboxEntry.maximumCount`.
    case putOutbox(id: String, JSON, deadline: Timestamp)
    /// Removes an outbox entry if it is there; its key is in no file when the change is acknowledged.
    case deleteOutbox(id: String)
    /// Destroys identity, storage and push registrations, replaces the data key, raises the storage epoch; what
    /// follows in the same change is written under the new key. The old key is in no file when the change is
    /// acknowledged. The outbox stays as it is.
    case wipe
    /// Removes the instance with all that it has, its outbox too. Its events stay until retention takes them.
    case delete
  }

  /// An event that is written with the change; its position is in the result.
  public struct NewEvent: Sendable {
    public var type: EventType
    public var service: String?
    public var operation: String?
    public var data: JSONObject
    /// For the last event of an instance: who may see its events when it is gone. Sealed, and told to nobody.
    public var audience: JSON?

    /// An event with these parts.
    public init(
      _ type: EventType, service: String? = nil, operation: String? = nil, data: JSONObject = [:],
      audience: JSON? = nil
    ) {
      self.type = type
      self.service = service
      self.operation = operation
      self.data = data
      self.audience = audience
    }
  }

  public var uuid: InstanceUUID
  public var id: InstanceID
  public var kind: KindName
  /// The epoch that the instance must have on disk for the change to be applied; `nil` for any.
  public var expectedEpoch: UInt64?
  /// The storage epoch that it must have; `nil` for any.
  public var expectedStorageEpoch: UInt64?
  public var parts: [Part]
  public var events: [NewEvent]

  /// A change of an instance.
  public init(
    uuid: InstanceUUID, id: InstanceID, kind: KindName, expectedEpoch: UInt64? = nil,
    expectedStorageEpoch: UInt64? = nil, parts: [Part] = [], events: [NewEvent] = []
  ) {
    self.uuid = uuid
    self.id = id
    self.kind = kind
    self.expectedEpoch = expectedEpoch
    self.expectedStorageEpoch = expectedStorageEpoch
    self.parts = parts
    self.events = events
  }
}

/// What a change did.
public struct CommitResult: Sendable {
  /// What a wipe destroyed.
  public struct Wiped: Sendable, Hashable {
    /// Values in storage.
    public var storage: Int
    /// Tokens: one for each record with a credential. With `services` in the identity, a token that an `.identify`
    /// after the wipe writes again for the same service does not count.
    public var tokens: Int
    /// Push registrations, also those that the same change puts again.
    public var pushes: Int
    /// The new storage epoch.
    public var storageEpoch: UInt64

    /// Counts of a wipe.
    public init(storage: Int, tokens: Int, pushes: Int, storageEpoch: UInt64) {
      self.storage = storage
      self.tokens = tokens
      self.pushes = pushes
      self.storageEpoch = storageEpoch
    }
  }

  /// The events as written, with their positions.
  public var events: [StoredEvent]
  /// What the wipe in the change destroyed, if there was one. The `identityWiped` event of the change gets these
  /// counts as its data from the store itself.
  public var wiped: Wiped?
  /// What is left to be done although the change is on disk: a key that it destroyed still lies in the log, or in a copy.
  /// Whoever waits for the wipe or the removal must hear of it.
  public var unfinished: SDKError?

  /// A result.
  public init(events: [StoredEvent] = [], wiped: Wiped? = nil, unfinished: SDKError? = nil) {
    self.events = events
    self.wiped = wiped
    self.unfinished = unfinished
  }
}
