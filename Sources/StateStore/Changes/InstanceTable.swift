import SDKProtocol
import SQLite

/// The writing of the rows of instances.
enum InstanceTable {
  static func insert(_ instance: OpenInstance, vault: Vault, _ db: Database) throws {
    try CensusTable.add(instance.uuid, vault, db)
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO instance (uuid, id, created_at, epoch, storage_epoch, slot, definition, identity)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)
    try statement.execute(arguments: [
      instance.uuid.description, instance.id, instance.createdAt.secondsSince1970, instance.epoch.stored,
      instance.storageEpoch.stored, instance.key.slot, try instance.sealedDefinition(), try instance.sealedIdentity(),
    ])
  }

  static func update(_ instance: OpenInstance, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "UPDATE instance SET epoch = ?, storage_epoch = ?, definition = ?, identity = ? WHERE uuid = ?")
    try statement.execute(arguments: [
      instance.epoch.stored, instance.storageEpoch.stored, try instance.sealedDefinition(),
      try instance.sealedIdentity(), instance.uuid.description,
    ])
  }

  /// Deletes an instance with everything that it has, and its key. Returns false if there is no such instance. SQLite
  /// deletes its push registrations and storage with its row (ON DELETE CASCADE).
  static func delete(_ uuid: InstanceUUID, vault: Vault, _ db: Database) throws -> Bool {
    let select = try db.cachedStatement(sql: "SELECT slot FROM instance WHERE uuid = ?")
    guard let row = try Row.fetchOne(select, arguments: [uuid.description]) else { return false }
    try OutboxWriter(db: db, vault: vault, uuid: uuid).deleteAll()
    try db.cachedStatement(sql: "DELETE FROM instance WHERE uuid = ?").execute(arguments: [uuid.description])
    try CensusTable.remove(uuid, vault, db)
    if let slot = row.integer(0) { try KeyTable.clear(slot, db) }
    return true
  }
}
