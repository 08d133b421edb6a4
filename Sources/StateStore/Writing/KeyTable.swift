import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The table of wrapped keys. A key is only ever overwritten where it lies, by bytes of the same length.
enum KeyTable {
  private static let noKey = Data(count: DataKey.wrappedBytes)
  private static let noAnchor = Data(count: Anchor.sealedBytes)

  private static let isFree =
    "slot NOT IN (SELECT slot FROM instance) AND slot NOT IN (SELECT slot FROM outbox)"

  /// A slot that no instance and no outbox entry has.
  static func take(_ db: Database) throws -> Int64 {
    let free = try db.cachedStatement(
      sql: "SELECT slot FROM data_key WHERE wrapped = ? AND \(isFree) LIMIT 1")
    if let slot = try Row.fetchOne(free, arguments: [noKey])?.integer(0) { return slot }
    let insert = try db.cachedStatement(sql: "INSERT INTO data_key (wrapped, anchor) VALUES (?, ?)")
    try insert.execute(arguments: [noKey, noAnchor])
    return db.lastInsertedRowID
  }

  static func write(_ instance: OpenInstance, _ db: Database) throws {
    try write(instance.key, anchor: try instance.sealedAnchor(), db)
  }

  static func write(_ key: DataKey, anchor: Data, _ db: Database) throws {
    let update = try db.cachedStatement(sql: "UPDATE data_key SET wrapped = ?, anchor = ? WHERE slot = ?")
    try update.execute(arguments: [key.wrapped, anchor, key.slot])
  }

  /// Overwrites the key of a slot with nothing, once nobody has the slot any more.
  static func clear(_ slot: Int64, _ db: Database) throws {
    let update = try db.cachedStatement(
      sql: "UPDATE data_key SET wrapped = ?, anchor = ? WHERE slot = ? AND \(isFree)")
    try update.execute(arguments: [noKey, noAnchor, slot])
  }
}
