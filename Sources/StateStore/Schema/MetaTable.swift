import Crypto
import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The store's own rows: its id, its wrapped master key, how often it was opened.
enum MetaTable {
  private static func row(_ name: String, _ db: Database) throws -> Row? {
    try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE name = ?", arguments: [name])
  }

  private static func set(_ name: String, _ value: some DatabaseValueConvertible, _ db: Database) throws {
    try db.execute(
      sql: "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      arguments: [name, value])
  }

  /// The master key and id of a state, without changing anything; `nil` if the state has none yet.
  static func unlock(_ db: Database, root: RootKey) throws -> (master: SymmetricKey, stateID: String)? {
    guard let stateID = try row("state_id", db)?.text(0) else {
      let instances = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM instance") ?? 0
      guard instances == 0 else { throw StoreOpenError.corrupt("the row of its master key is missing") }
      return nil
    }
    guard let wrapped = try row("master_key", db)?.data(0), let check = try row("key_check", db)?.data(0) else {
      throw StoreOpenError.corrupt("the row of its master key is missing")
    }
    return (try MasterKey.open(wrapped, check: check, under: root, stateID: stateID), stateID)
  }

  /// Gives a new state its id and master key.
  static func initialize(_ db: Database, root: RootKey) throws -> (master: SymmetricKey, stateID: String) {
    let stateID = InstanceUUID.random().description
    let made = try MasterKey.make(under: root, stateID: stateID)
    try set("state_id", stateID, db)
    try set("master_key", made.wrapped, db)
    try set("key_check", made.check, db)
    return (made.key, stateID)
  }

  /// Counts an opening; how many there were before.
  static func countOpening(_ db: Database) throws -> Int {
    let before = max(0, try row("openings", db)?.integer(0) ?? 0)
    try set("openings", before &+ 1, db)
    return Int(before)
  }

  /// Writes something small, to see whether the disk takes it.
  static func probe(_ db: Database) throws {
    let before = try row("probes", db)?.integer(0) ?? 0
    try set("probes", before &+ 1, db)
  }
}
