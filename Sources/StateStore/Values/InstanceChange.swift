public import JSONRPC
public import SDKProtocol

/// A change of one instance, applied as a whole or not at all.
public struct InstanceChange: Sendable {
  /// A part of a change. Parts are applied in order.
  public enum Part: Sendable {
    /// Creates an instance. Fails with `instanceExists` when its ID is taken, even by a quarantined instance.
    case create(StoredInstance)
    /// Replaces the definition.
    case define(JSON)
    /// Replaces the identity; `nil` clears it.
    case identify(JSON?)
    /// Raises the epoch to this value. Fails with `epochChanged` unless the value is higher than the present one.
    case raiseEpoch(to: UInt64)
    /// Writes a value. `limit` is the maximum size of all keys and values together, in bytes; beyond it, the change
    /// fails with `storageFull`.
    case putValue(key: String, value: JSON, limit: Int)
    /// Deletes a value if it exists.
    case deleteValue(key: String)
    /// Writes a push registration, or replaces the one with this ID. Fails with `storageFull` beyond
    /// `StoredPush.maximumCount`.
    case putPush(id: String, JSON)
    /// Deletes a push registration if it exists.
    case deletePush(id: String)
    /// Writes an outbox entry, or replaces the one with this ID, which keeps its key. Fails with `storageFull` beyond
    /// `StoredOutboxEntry.maximumCount`.
    case putOutbox(id: String, JSON, deadline: Timestamp)
    /// Deletes an outbox entry and destroys its key, as `wipe` destroys the data key. Does nothing if there is no such
    /// entry.
    case deleteOutbox(id: String)
    /// Destroys identity, storage and push registrations, replaces the data key, and raises the storage epoch. Later
    /// parts of the same change are written under the new key. Once the change is acknowledged, the old key is neither
    /// in the database and its log, unless `CommitResult.unfinished` is set, nor in the backups, unless
    /// `SQLiteStateStore.unfinishedBackups` names them. Databases that were set aside keep it. The outbox stays as it is.
    case wipe
    /// Deletes the instance with everything that it has, including its outbox. Its events stay until retention removes
    /// them.
    case delete
  }

  /// An event that is written with the change. The result contains its position.
  public struct NewEvent: Sendable {
    public var type: EventType
    public var service: String?
    public var operation: String?
    public var data: JSONObject
    /// The access rules for the events of an instance after its deletion, in its last event. Sealed, and never sent to
    /// clients.
    public var audience: JSON?

    /// Creates an event.
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
  /// The epoch that the instance must have on disk; `nil` accepts any.
  public var expectedEpoch: UInt64?
  /// The storage epoch that the instance must have on disk; `nil` accepts any.
  public var expectedStorageEpoch: UInt64?
  public var parts: [Part]
  public var events: [NewEvent]
  /// Whether a caller waits for the change, which the store then refuses if too many changes wait. The store accepts any
  /// other change: each instance has at most one at a time.
  public var isDemanded = true

  /// Creates a change.
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

  /// Whether the change wipes or deletes the instance.
  public var destroysIdentity: Bool {
    parts.contains { part in
      switch part {
      case .wipe, .delete: true
      default: false
      }
    }
  }
}

/// The result of an applied change.
public struct CommitResult: Sendable {
  /// The amount of data that a wipe destroyed.
  public struct Wiped: Sendable, Hashable {
    /// The number of values in storage.
    public var storage: Int
    /// The number of tokens, one for each record with a credential. With `services` in the identity, a token does not
    /// count if a later `.identify` writes it again for the same service.
    public var tokens: Int
    /// The number of push registrations, including those that the same change writes again.
    public var pushes: Int
    /// The new storage epoch.
    public var storageEpoch: UInt64

    /// Creates the counts of a wipe.
    public init(storage: Int, tokens: Int, pushes: Int, storageEpoch: UInt64) {
      self.storage = storage
      self.tokens = tokens
      self.pushes = pushes
      self.storageEpoch = storageEpoch
    }
  }

  /// The events as written, with their positions.
  public var events: [StoredEvent]
  /// The amount of data that the wipe in the change destroyed; `nil` without a wipe. The store also writes these counts
  /// into the data of the change's `identityWiped` event.
  public var wiped: Wiped?
  /// The failure to remove a destroyed key from the log, although the change itself is on disk. It must be reported to
  /// the caller of the wipe or the removal. A backup that can't be changed is no such failure: the health reports it.
  public var unfinished: SDKError?

  /// Creates a result.
  public init(events: [StoredEvent] = [], wiped: Wiped? = nil, unfinished: SDKError? = nil) {
    self.events = events
    self.wiped = wiped
    self.unfinished = unfinished
  }
}
