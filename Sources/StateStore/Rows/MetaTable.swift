import Cryptography
import FoundationEssentials
import SDKProtocol
import SQLite

/// The store's own rows, such as its ID, its wrapped master key, its number of openings, and the mark of a backup.
enum MetaTable {
  /// A state with its master key.
  struct Unlocked {
    var master: SymmetricKey
    var stateID: String
    /// The index of the given root key that opened the state.
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

  /// Returns the master key and ID of a state, without changing anything; `nil` if the state has none yet.
  static func unlock(_ db: Database, roots: [RootKey]) throws -> Unlocked? {
    guard let (stateID, wrapped) = try wrapped(db) else { return nil }
    let opened = try MasterKey.open(wrapped, under: roots, stateID: stateID)
    return Unlocked(master: opened.key, stateID: stateID, root: opened.root)
  }

  /// Returns the ID of a state and its wrapped master key; `nil` if the state has none yet.
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

  /// Wraps a master key under a root key and stores it with the state ID, replacing the present ones.
  static func write(_ master: SymmetricKey, under root: RootKey, stateID: String, _ db: Database) throws {
    let wrapped = try MasterKey.wrap(master, under: root, stateID: stateID)
    try set("state_id", stateID, db)
    try set("master_key", wrapped.key, db)
    try set("key_check", wrapped.check, db)
  }

  /// Returns the number of openings.
  static func openings(_ db: Database) throws -> Int { Int(max(0, try row("openings", db)?.integer(0) ?? 0)) }

  /// Counts an opening and returns the number of earlier ones.
  static func countOpening(_ db: Database) throws -> Int {
    let before = try openings(db)
    try set("openings", Int64(before) &+ 1, db)
    return before
  }

  /// Makes a small write, to test whether the disk accepts it.
  static func probe(_ db: Database) throws {
    let before = try row("probes", db)?.integer(0) ?? 0
    try set("probes", before &+ 1, db)
  }

  /// Returns the sealed census; `nil` if there is none.
  static func census(_ db: Database) throws -> Data? { try row("census", db)?.data(0) }

  static func setCensus(_ sealed: Data, _ db: Database) throws { try set("census", sealed, db) }

  /// Returns the sealed digest of the losses of events; `nil` if there is none.
  static func gaps(_ db: Database) throws -> Data? { try row("gaps", db)?.data(0) }

  static func setGaps(_ sealed: Data, _ db: Database) throws { try set("gaps", sealed, db) }

  /// Returns the generation, a number that grows when the state is opened or closed and when keys are destroyed; 0 at
  /// first.
  static func generation(_ db: Database) throws -> UInt64 {
    UInt64(clamping: try row("generation", db)?.integer(0) ?? 0)
  }

  /// Raises the generation and returns the new one.
  static func raiseGeneration(_ db: Database) throws -> UInt64 {
    let next = try generation(db) + 1
    try set("generation", Int64(clamping: next), db)
    return next
  }

  /// The destruction of an instance's data in a backup, after the backup was made.
  enum Loss: String, CaseIterable {
    /// A wipe, as by a logout or another user.
    case wipe
    /// The deletion of the instance.
    case deletion

    /// The beginning of the names of its rows. The rest is the UUID of the instance.
    fileprivate var prefix: String { "\(rawValue):" }
    /// The text that follows all these names.
    fileprivate var end: String { "\(rawValue);" }
  }

  /// Notes in a backup that the data of an instance was destroyed in it. A deletion replaces the note of a wipe.
  static func note(_ loss: Loss, of uuid: InstanceUUID, id: String, _ db: Database) throws {
    try set(loss.prefix + uuid.description, id, db)
    guard loss == .deletion else { return }
    try db.execute(sql: "DELETE FROM meta WHERE name = ?", arguments: [Loss.wipe.prefix + uuid.description])
  }

  /// Returns the number of instances of a backup with this loss, and the first of their ids.
  static func instances(with loss: Loss, atMost limit: Int, _ db: Database) throws -> (count: Int, ids: [String]) {
    let rows = "FROM meta WHERE name >= ? AND name < ?"
    let range: StatementArguments = [loss.prefix, loss.end]
    return (
      try Int.fetchOne(db, sql: "SELECT COUNT(*) \(rows)", arguments: range) ?? 0,
      try String.fetchAll(db, sql: "SELECT value \(rows) ORDER BY value LIMIT \(limit)", arguments: range)
    )
  }

  /// Deletes the notes of a backup that becomes a state.
  static func forgetLosses(_ db: Database) throws {
    for loss in Loss.allCases {
      try db.execute(sql: "DELETE FROM meta WHERE name >= ? AND name < ?", arguments: [loss.prefix, loss.end])
    }
  }

  /// Returns the time of a backup; `nil` if the database is not a backup.
  static func copied(_ db: Database) throws -> Timestamp? {
    try row("copied_at", db)?.real(0).map(Timestamp.init(secondsSince1970:))
  }

  /// Marks the database as a backup from this time, or with `nil` as no backup.
  static func setCopied(_ time: Timestamp?, _ db: Database) throws {
    guard let time else { return try db.execute(sql: "DELETE FROM meta WHERE name = 'copied_at'") }
    try set("copied_at", time.secondsSince1970, db)
  }
}
