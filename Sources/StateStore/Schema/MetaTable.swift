import Crypto
import GRDB
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The store's own rows: its id, its wrapped master key, how often it was opened, and whether it is a copy.
enum MetaTable {
  /// A state whose master key is known.
  struct Unlocked {
    var master: SymmetricKey
    var stateID: String
    /// Which of the root keys that were given opened it.
    var root: Int
  }

  private static func row(_ name: String, _ db: Database) throws -> Row? {
    try Row.fetchOne(db.cachedStatement(sql: "SELECT value FROM meta WHERE name = ?"), arguments: [name])
  }

  private static func set(_ name: String, _ value: some DatabaseValueConvertible, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value")
    try statement.execute(arguments: [name, value])
  }

  /// The master key and id of a state, without changing anything; `nil` if the state has none yet.
  static func unlock(_ db: Database, roots: [RootKey]) throws -> Unlocked? {
    guard let (stateID, wrapped) = try wrapped(db) else { return nil }
    let opened = try MasterKey.open(wrapped, under: roots, stateID: stateID)
    return Unlocked(master: opened.key, stateID: stateID, root: opened.root)
  }

  /// The id of a state and its master key as it lies there; `nil` if the state has none yet.
  static func wrapped(_ db: Database) throws -> (stateID: String, key: MasterKey.Wrapped)? {
    guard let stateID = try row("state_id", db)?.text(0) else {
      let instances = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM instance") ?? 0
      guard instances == 0 else { throw StoreOpenError.corrupt("the row of its master key is missing") }
      return nil
    }
    guard let wrapped = try row("master_key", db)?.data(0), let check = try row("key_check", db)?.data(0) else {
      throw StoreOpenError.corrupt("the row of its master key is missing")
    }
    return (stateID, MasterKey.Wrapped(key: wrapped, check: check))
  }

  /// Puts a master key under a root key in the place of what is there.
  static func write(_ master: SymmetricKey, under root: RootKey, stateID: String, _ db: Database) throws {
    let wrapped = try MasterKey.wrap(master, under: root, stateID: stateID)
    try set("state_id", stateID, db)
    try set("master_key", wrapped.key, db)
    try set("key_check", wrapped.check, db)
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

  /// The sealed count of instances; `nil` if there is none.
  static func census(_ db: Database) throws -> Data? { try row("census", db)?.data(0) }

  static func setCensus(_ sealed: Data, _ db: Database) throws { try set("census", sealed, db) }

  /// A number that grows when the state is opened or closed and when keys are destroyed; 0 before the first time.
  static func generation(_ db: Database) throws -> UInt64 {
    UInt64(clamping: try row("generation", db)?.integer(0) ?? 0)
  }

  /// Raises the generation; the new one.
  static func raiseGeneration(_ db: Database) throws -> UInt64 {
    let next = try generation(db) + 1
    try set("generation", Int64(clamping: next), db)
    return next
  }

  /// When this copy was made; `nil` for a state that is none.
  static func copied(_ db: Database) throws -> Timestamp? {
    try row("copied_at", db)?.real(0).map(Timestamp.init(secondsSince1970:))
  }

  /// Says that a database is a copy, or with `nil` that it is not any more.
  static func setCopied(_ time: Timestamp?, _ db: Database) throws {
    guard let time else { return try db.execute(sql: "DELETE FROM meta WHERE name = 'copied_at'") }
    try set("copied_at", time.secondsSince1970, db)
  }
}
