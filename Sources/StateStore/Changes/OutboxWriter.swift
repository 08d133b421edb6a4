import FoundationEssentials
import SDKProtocol
import SQLite

/// A writer of an instance's outbox, which holds the pending cleanup deliveries. Each entry is sealed under a data key
/// of its own, so the instance's data key is not needed.
struct OutboxWriter {
  let db: Database
  let vault: Vault
  let uuid: InstanceUUID

  /// Writes an entry, or replaces the one with the same ID. A new entry gets a new data key; a replaced one keeps its
  /// data key.
  func put(_ entry: StoredOutboxEntry, of id: InstanceID) throws {
    let tag = vault.outboxTag(of: entry.id, in: uuid)
    let (key, former) = try present(tag) ?? added(tag, of: id)
    var anchor = former
    anchor.revision &+= 1
    try SealedRow(of: uuid, tag: tag, key: key, anchor: anchor, deadline: entry.deadline)
      .write(name: Data(entry.id.utf8), value: StoredJSON.data(of: entry.value), under: key, db)
    try KeyTable.write(key, anchor: try anchor.sealed(under: key, of: uuid), db)
  }

  /// Deletes the entry with this ID and its data key. Does nothing if there is no such entry.
  func delete(_ entry: String) throws { try delete(tag: vault.outboxTag(of: entry, in: uuid)) }

  /// Deletes the entry with this lookup tag and its data key. Does nothing if there is no such entry.
  func delete(tag: Data) throws {
    let select = try db.cachedStatement(sql: "SELECT slot FROM outbox WHERE instance = ? AND tag = ?")
    if let slot = try Row.fetchOne(select, arguments: [uuid.description, tag])?.integer(0) { try remove(slot) }
  }

  /// Returns the data key and the anchor of the entry with this lookup tag; `nil` if there is no such entry. Deletes an
  /// entry whose data key can't be unwrapped, and returns `nil`.
  private func present(_ tag: Data) throws -> (DataKey, Anchor)? {
    let select = try db.cachedStatement(sql: OutboxRow.selection + " WHERE instance = ? AND tag = ?")
    guard let found = try Row.fetchOne(select, arguments: [uuid.description, tag]) else { return nil }
    if let row = try? OutboxRow(found, vault) { return (row.key, row.anchor) }
    if let slot = OutboxRow.slot(of: found) { try remove(slot) }
    return nil
  }

  /// Creates the data key and the anchor of a new entry. Throws `outboxFull` if the instance has the maximum number of
  /// readable entries.
  private func added(_ tag: Data, of id: InstanceID) throws -> (DataKey, Anchor) {
    if try count() >= StoredOutboxEntry.maximumCount { try removeUnreadable() }
    guard try count() < StoredOutboxEntry.maximumCount else { throw SDKError.outboxFull(id) }
    let slot = try KeyTable.take(db)
    return (try DataKey(newFor: .outboxEntry(uuid, tag: tag), slot: slot, vault: vault), Anchor())
  }

  private func count() throws -> Int {
    let select = try db.cachedStatement(sql: "SELECT COUNT(*) FROM outbox WHERE instance = ?")
    return Int(try Row.fetchOne(select, arguments: [uuid.description])?.integer(0) ?? 0)
  }

  /// Deletes the entries that can't be decrypted.
  private func removeUnreadable() throws {
    let select = try db.cachedStatement(sql: OutboxRow.selection + " WHERE instance = ?")
    for row in try Row.fetchAll(select, arguments: [uuid.description]) {
      if (try? OutboxRow(row, vault).opened()) != nil { continue }
      if let slot = OutboxRow.slot(of: row) { try remove(slot) }
    }
  }

  /// Deletes all entries of the instance and their data keys.
  func deleteAll() throws {
    let select = try db.cachedStatement(sql: "SELECT slot FROM outbox WHERE instance = ?")
    for row in try Row.fetchAll(select, arguments: [uuid.description]) {
      if let slot = row.integer(0) { try remove(slot) }
    }
  }

  private func remove(_ slot: Int64) throws {
    try db.cachedStatement(sql: "DELETE FROM outbox WHERE slot = ?").execute(arguments: [slot])
    try KeyTable.clear(slot, db)
  }
}
