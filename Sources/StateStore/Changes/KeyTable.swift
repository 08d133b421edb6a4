import FoundationEssentials
import SQLite

/// The table of wrapped keys. A key is only ever overwritten in place, by bytes of the same length.
enum KeyTable {
  private static let noKey = Data(count: DataKey.wrappedBytes)
  private static let noAnchor = Data(count: Anchor.sealedBytes)

  private static let isFree = """
    slot NOT IN (SELECT slot FROM instance) AND slot NOT IN (SELECT slot FROM outbox)
    AND slot NOT IN (SELECT slot FROM state_key)
    """

  /// Returns a slot that no instance, no outbox entry and no key of the state uses.
  static func take(_ db: Database) throws -> Int64 {
    try readFree(db)
    let lowest = try db.cachedStatement(sql: "SELECT MIN(slot) FROM temp.free_key")
    if let slot = try Row.fetchOne(lowest)?.integer(0) {
      let use = try db.cachedStatement(sql: "DELETE FROM temp.free_key WHERE slot = ?")
      try use.execute(arguments: [slot])
      return slot
    }
    let insert = try db.cachedStatement(sql: "INSERT INTO data_key (wrapped, anchor) VALUES (?, ?)")
    try insert.execute(arguments: [noKey, noAnchor])
    return db.lastInsertedRowID
  }

  /// Lists the free slots in a table in memory, where each connection that needs one reads them once. A rollback undoes
  /// its changes with all others.
  private static func readFree(_ db: Database) throws {
    guard try !hasReadFree(db) else { return }
    try db.execute(sql: "CREATE TEMP TABLE free_key (slot INTEGER PRIMARY KEY)")
    try db.execute(
      sql: "INSERT INTO temp.free_key SELECT slot FROM data_key WHERE wrapped = ? AND \(isFree)", arguments: [noKey])
  }

  private static func hasReadFree(_ db: Database) throws -> Bool {
    let table = try db.cachedStatement(sql: "SELECT 1 FROM temp.sqlite_schema WHERE name = 'free_key'")
    return try Row.fetchOne(table) != nil
  }

  static func write(_ instance: OpenInstance, _ db: Database) throws {
    try write(instance.key, anchor: try instance.sealedAnchor(), db)
  }

  static func write(_ key: DataKey, anchor: Data, _ db: Database) throws {
    let update = try db.cachedStatement(sql: "UPDATE data_key SET wrapped = ?, anchor = ? WHERE slot = ?")
    try update.execute(arguments: [key.wrapped, anchor, key.slot])
  }

  /// Replaces the wrapped key in a slot.
  static func overwrite(_ slot: Int64, _ wrapped: Data, _ db: Database) throws {
    let update = try db.cachedStatement(sql: "UPDATE data_key SET wrapped = ? WHERE slot = ?")
    try update.execute(arguments: [wrapped, slot])
  }

  /// Overwrites the key in a slot with zeros, unless the slot is still in use.
  static func clear(_ slot: Int64, _ db: Database) throws {
    let update = try db.cachedStatement(
      sql: "UPDATE data_key SET wrapped = ?, anchor = ? WHERE slot = ? AND \(isFree)")
    try update.execute(arguments: [noKey, noAnchor, slot])
    guard db.changesCount > 0, try hasReadFree(db) else { return }
    let free = try db.cachedStatement(sql: "INSERT OR IGNORE INTO temp.free_key (slot) VALUES (?)")
    try free.execute(arguments: [slot])
  }

  /// Rewraps every key under another key, and clears keys without an owner.
  ///
  /// A key that does not open stays as it is, so that a damaged instance can't get worse.
  ///
  /// - Returns: the number of rewrapped keys of instances and outbox entries.
  static func rewrap(from old: WrappingKey, to new: WrappingKey, _ db: Database) throws -> Int {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT k.slot, k.wrapped, i.uuid, i.storage_epoch, o.instance, o.tag, s.purpose, s.first FROM data_key k
        LEFT JOIN instance i ON i.slot = k.slot LEFT JOIN outbox o ON o.slot = k.slot
        LEFT JOIN state_key s ON s.slot = k.slot WHERE k.wrapped != ?
        """, arguments: [noKey])
    var count = 0
    for row in rows {
      guard let slot = row.integer(0), let wrapped = row.data(1) else { continue }
      guard let owner = owner(row) else {
        try clear(slot, db)
        continue
      }
      guard let key = try? old.unwrap(wrapped, for: owner, slot: slot) else { continue }
      try overwrite(slot, try new.wrap(key, for: owner, slot: slot), db)
      if case .state = owner { continue }
      count += 1
    }
    return count
  }

  private static func owner(_ row: Row) -> KeyOwner? {
    if let uuid = row.text(2), let epoch = row.unsigned(3) {
      return .instance(InstanceUUID(uuid), storageEpoch: epoch)
    }
    if let uuid = row.text(4), let tag = row.data(5) { return .outboxEntry(InstanceUUID(uuid), tag: tag) }
    if let purpose = row.text(6), let first = row.unsigned(7) { return .state(purpose: purpose, first: first) }
    return nil
  }
}
