import FoundationEssentials
import SDKProtocol
import SQLite

/// The application of one change inside a savepoint.
struct ChangeWriter {
  let db: Database
  let vault: Vault
  let change: InstanceChange
  let time: Timestamp
  /// The amount by which a wipe raises the storage epoch.
  private let epochStep: UInt64

  private var instance: OpenInstance?
  private var isRowChanged = false
  private var isAnchorChanged = false
  private var wipeCount: WipeCount?

  /// Applies `change` and returns its result. Throws `SDKError` when a condition of the change is not met, and any
  /// other error when the disk or the database fails.
  static func apply(
    _ change: InstanceChange, at time: Timestamp, vault: Vault, epochStep: UInt64 = 1, _ db: Database
  ) throws -> CommitResult {
    var writer = ChangeWriter(db: db, vault: vault, change: change, time: time, epochStep: epochStep)
    return try writer.apply()
  }

  private init(db: Database, vault: Vault, change: InstanceChange, time: Timestamp, epochStep: UInt64) {
    self.db = db
    self.vault = vault
    self.change = change
    self.time = time
    self.epochStep = epochStep
  }

  private mutating func apply() throws -> CommitResult {
    try check()
    for part in change.parts { try apply(part) }
    try writeBack()
    let events = try EventWriter(db: db, vault: vault).write(change, at: time, wiped: wipeCount?.wiped)
    return CommitResult(events: events, wiped: wipeCount?.wiped)
  }

  private mutating func check() throws {
    if case .create? = change.parts.first { return }
    guard change.expectedEpoch != nil || change.expectedStorageEpoch != nil else { return }
    let instance = try opened()
    if let epoch = change.expectedEpoch, epoch != instance.epoch { throw SDKError.epochChanged(change.id) }
    if let epoch = change.expectedStorageEpoch, epoch != instance.storageEpoch {
      throw SDKError.storageEpochChanged(change.id)
    }
  }

  /// Returns the instance of the change, which is read only once.
  private mutating func opened() throws -> OpenInstance {
    if let instance { return instance }
    do {
      guard let opened = try OpenInstance.fetch(change.uuid, vault, db) else {
        throw SDKError.instanceNotFound(change.id)
      }
      instance = opened
      return opened
    } catch let error as SealError {
      throw SDKError.instanceQuarantined(change.id, InstanceProblem.text(error.what))
    }
  }

  private mutating func apply(_ part: InstanceChange.Part) throws {
    switch part {
    case .create(let new): return try create(new)
    case .wipe: return try wipe()
    case .delete: return try delete()
    default: break
    }
    var changed = try opened()
    switch part {
    case .create, .wipe, .delete: break
    case .define(let definition): changed.definition = try StoredJSON.data(of: definition)
    case .identify(let identity):
      changed.identity = try identity.map(StoredJSON.data) ?? Data()
      wipeCount?.identified(as: identity)
    case .raiseEpoch(let epoch):
      guard epoch > changed.epoch else { throw SDKError.epochChanged(change.id) }
      changed.epoch = epoch
    case .putValue(let key, let value, let limit):
      try rows.putValue(value, of: key, limit: limit, in: &changed)
    case .deleteValue(let key): try rows.deleteValue(of: key, in: &changed)
    case .putPush(let id, let value): try rows.putPush(StoredPush(id: id, value: value), in: &changed)
    case .deletePush(let id): try rows.deletePush(id, in: &changed)
    case .putOutbox(let id, let value, let deadline):
      try outbox.put(StoredOutboxEntry(id: id, value: value, deadline: deadline), of: change.id)
    case .deleteOutbox(let id): try outbox.delete(id)
    }
    instance = changed
    switch part {
    case .putValue, .deleteValue: isAnchorChanged = true
    case .putOutbox, .deleteOutbox: break
    default: isRowChanged = true
    }
  }

  private var rows: RowWriter { RowWriter(db: db, id: change.id) }

  private var outbox: OutboxWriter { OutboxWriter(db: db, vault: vault, uuid: change.uuid) }

  private mutating func create(_ new: StoredInstance) throws {
    let taken = try db.cachedStatement(sql: "SELECT 1 FROM instance WHERE id = ? OR uuid = ?")
    guard new.uuid == change.uuid,
      try Row.fetchOne(taken, arguments: [new.id.name, new.uuid.description]) == nil
    else { throw SDKError.instanceExists(new.id) }
    let slot = try KeyTable.take(db)
    var created = try OpenInstance(new, slot: slot, vault: vault)
    try InstanceTable.insert(created, vault: vault, db)
    for push in new.pushes { try rows.putPush(push, in: &created) }
    for entry in new.outbox { try outbox.put(entry, of: change.id) }
    instance = created
    isRowChanged = true
  }

  private mutating func wipe() throws {
    var changed = try opened()
    let storage = try SealedRow.Table.storage.deleteAll(of: changed.uuid, db)
    let pushes = try SealedRow.Table.push.deleteAll(of: changed.uuid, db)
    changed.pushes = []
    changed.storageEpoch &+= epochStep
    wipeCount = WipeCount(
      of: StoredJSON.json(of: changed.identity), storage: storage, pushes: pushes, storageEpoch: changed.storageEpoch)
    changed.key = try DataKey(
      newFor: .instance(changed.uuid, storageEpoch: changed.storageEpoch), slot: changed.key.slot, vault: vault)
    changed.identity = Data()
    changed.anchor.storageBytes = 0
    changed.anchor.storageDigest = StorageDigest()
    instance = changed
    isRowChanged = true
  }

  /// Deletes the instance. This needs no key, so that an instance that does not open can be deleted.
  private mutating func delete() throws {
    guard try InstanceTable.delete(change.uuid, vault: vault, db) else { throw SDKError.instanceNotFound(change.id) }
    instance = nil
    isRowChanged = false
    isAnchorChanged = false
  }

  private mutating func writeBack() throws {
    guard isRowChanged || isAnchorChanged, var instance else { return }
    if isRowChanged {
      instance.anchor.revision &+= 1
      try InstanceTable.update(instance, db)
    }
    try KeyTable.write(instance, db)
  }
}

/// The writing of the events of a change.
struct EventWriter {
  let db: Database
  let vault: Vault

  func write(_ change: InstanceChange, at time: Timestamp, wiped: CommitResult.Wiped?) throws -> [StoredEvent] {
    guard !change.events.isEmpty else { return [] }
    var position = try EventLog.newest(db)
    return try change.events.map { new in
      position &+= 1
      let data = new.type == .identityWiped ? wiped?.data(over: new.data, instance: change.uuid) : nil
      let event = StoredEvent(
        position: position, uuid: change.uuid, id: change.id, kind: change.kind, time: time, type: new.type,
        service: new.service, operation: new.operation, data: EventData.clipped(data ?? new.data),
        audience: new.audience)
      let insert = try db.cachedStatement(
        sql: "INSERT INTO event (position, instance, time, payload) VALUES (?, ?, ?, ?)")
      try insert.execute(arguments: [
        position.stored, event.uuid.description, time.secondsSince1970, try EventRow.seal(event, vault: vault),
      ])
      return event
    }
  }
}
