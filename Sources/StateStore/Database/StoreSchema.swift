import SQLite
import Synchronization

/// The tables, and the migration of databases of earlier versions.
enum StoreSchema {
  /// `application_id` of our databases: "sdkd".
  static let applicationID: Int64 = 0x7364_6B64

  /// The migration script of each version. Released scripts never change.
  private static let scripts = [
    """
    CREATE TABLE meta (
      name TEXT NOT NULL PRIMARY KEY,
      value ANY NOT NULL
    ) STRICT, WITHOUT ROWID;
    -- Rows are appended, overwritten with the same length and never deleted, so that SQLite never moves one and
    -- leaves a copy behind.
    CREATE TABLE data_key (
      slot INTEGER PRIMARY KEY,
      wrapped BLOB NOT NULL,
      anchor BLOB NOT NULL
    ) STRICT;
    CREATE TABLE instance (
      uuid TEXT NOT NULL PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      created_at REAL NOT NULL,
      epoch INTEGER NOT NULL,
      storage_epoch INTEGER NOT NULL,
      slot INTEGER NOT NULL UNIQUE,
      definition BLOB NOT NULL,
      identity BLOB NOT NULL
    ) STRICT;
    CREATE TABLE storage (
      instance TEXT NOT NULL REFERENCES instance (uuid) ON DELETE CASCADE,
      tag BLOB NOT NULL,
      revision INTEGER NOT NULL,
      key_bytes INTEGER NOT NULL,
      value_bytes INTEGER NOT NULL,
      name BLOB NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY (instance, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE event (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      instance TEXT NOT NULL,
      time REAL NOT NULL,
      payload BLOB NOT NULL
    ) STRICT;
    CREATE INDEX event_by_instance ON event (instance, position);
    CREATE INDEX event_by_time ON event (time);
    CREATE TABLE event_gap (
      instance TEXT NOT NULL PRIMARY KEY,
      position INTEGER NOT NULL,
      time REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
    """
    CREATE TABLE push (
      instance TEXT NOT NULL REFERENCES instance (uuid) ON DELETE CASCADE,
      tag BLOB NOT NULL,
      revision INTEGER NOT NULL,
      name BLOB NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY (instance, tag)
    ) STRICT, WITHOUT ROWID;
    -- The slot is that of the entry's own key in data_key.
    CREATE TABLE outbox (
      slot INTEGER PRIMARY KEY,
      instance TEXT NOT NULL REFERENCES instance (uuid) ON DELETE CASCADE,
      tag BLOB NOT NULL,
      deadline REAL NOT NULL,
      name BLOB NOT NULL,
      value BLOB NOT NULL,
      UNIQUE (instance, tag)
    ) STRICT;
    """,
    """
    -- The keys of the state itself; the slot is that of the key in data_key.
    CREATE TABLE state_key (
      slot INTEGER PRIMARY KEY,
      purpose TEXT NOT NULL,
      first INTEGER NOT NULL,
      UNIQUE (purpose, first)
    ) STRICT;
    -- Keys that were destroyed since the last copy; an empty tag is the instance's own key.
    CREATE TABLE removal (
      instance TEXT NOT NULL,
      tag BLOB NOT NULL,
      PRIMARY KEY (instance, tag)
    ) STRICT, WITHOUT ROWID;
    """,
    // Version 4 adds the row `census` to `meta`.
    "",
  ]
  /// The first version with notes of destroyed keys.
  static let removalVersion = 3
  /// The first version in which a state has a census.
  static let censusVersion = 4

  /// The version that this code writes.
  static var version: Int { scripts.count }

  /// Returns the version of a database; 0 for an empty one.
  ///
  /// - Throws: `StoreOpenError` if the database does not belong to sdkd or is newer than this code.
  static func version(of db: Database) throws -> Int {
    let application = try Int64.fetchOne(db, sql: "PRAGMA application_id") ?? 0
    let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    let objects = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
    guard application == applicationID || (application == 0 && version == 0 && objects == 0) else {
      throw StoreOpenError.corrupt("state.db is no database of sdkd")
    }
    guard version <= Self.version else { throw StoreOpenError.newerSchema(found: version, known: Self.version) }
    guard version >= 0 else { throw StoreOpenError.corrupt("schema \(version)") }
    return version
  }

  /// Migrates a database to the current version, in the open transaction.
  static func migrate(_ db: Database, from version: Int) throws {
    guard version < Self.version else { return }
    for script in scripts.dropFirst(version) { try db.execute(sql: script) }
    try db.execute(sql: "PRAGMA user_version = \(Self.version)")
    try db.execute(sql: "PRAGMA application_id = \(applicationID)")
  }

  /// Marks an empty database as the beginning of a new state, so that it is not taken for a lost one.
  static func beginAnew(_ db: Database) throws { try db.execute(sql: "PRAGMA application_id = \(applicationID)") }

  /// Returns whether a database of version 0 is marked as the beginning of a new state.
  static func beginsAnew(_ db: Database) throws -> Bool {
    try Int64.fetchOne(db, sql: "PRAGMA application_id") == applicationID
  }

  /// Checks the whole database for damage, and its tables, indexes, triggers and views with `compare`. A foreign
  /// trigger or view would change what the daemon reads and writes.
  ///
  /// `integrity_check` takes twice as long as `quick_check`, 1 ms for each 500 KiB. It also finds a row that its index
  /// does not lead to, which would seem not to be there.
  static func check(_ db: Database) throws {
    try compare(db)
    if let finding = try findings(db, atMost: 5).first { throw StoreOpenError.corrupt(finding) }
    try checkPositions(db)
  }

  /// Returns the indexes that can be built again without loss; throws `corrupt` if anything else is damaged.
  ///
  /// That is so if rows are missing from an index or its entries were changed, but not if an index has more entries than
  /// its table has rows: then rows of the table are lost.
  static func checkForReindexing(_ db: Database) throws -> Set<String> {
    try compare(db)
    let findings = try findings(db, atMost: findingLimit)
    guard let first = findings.first else {
      try checkPositions(db)
      return []
    }
    var missing: [String: Int] = [:]
    for finding in findings {
      let words = finding.split(separator: " ")
      if words.count == 6, words[0] == "row", words[2...4].elementsEqual(["missing", "from", "index"]) {
        missing[String(words[5]), default: 0] += 1
      } else if words.count == 7, words[0...5].elementsEqual(["wrong", "#", "of", "entries", "in", "index"]) {
        missing[String(words[6]), default: 0] += 0
      } else {
        throw StoreOpenError.corrupt(finding)
      }
    }
    guard findings.count < findingLimit, try missing.allSatisfy({ try orphans(of: $0.key, db) <= $0.value }) else {
      throw StoreOpenError.corrupt(first)
    }
    return Set(missing.keys)
  }

  /// Returns the number of entries of an index whose row is not in the table.
  private static func orphans(of index: String, _ db: Database) throws -> Int {
    let owner = "SELECT tbl_name FROM sqlite_schema WHERE type = 'index' AND name = ?"
    guard let table = try Row.fetchOne(db, sql: owner, arguments: [index])?.text(0) else { return .max }
    let row = try Row.fetchOne(
      db,
      sql: """
        SELECT COUNT(*) FROM "\(table)" AS entry INDEXED BY "\(index)"
        WHERE NOT EXISTS (SELECT 1 FROM "\(table)" AS present NOT INDEXED WHERE present.rowid = entry.rowid)
        """)
    return row?.integer(0).map(Int.init) ?? .max
  }

  /// Builds these indexes again.
  static func reindex(_ indexes: Set<String>, _ db: Database) throws {
    for index in indexes.sorted() { try db.execute(sql: "REINDEX \"\(index)\"") }
    try check(db)
  }

  /// The number of findings up to which indexes are built again. A longer list could hide other damage.
  private static let findingLimit = 10_000

  /// Returns what SQLite finds damaged.
  private static func findings(_ db: Database, atMost limit: Int) throws -> [String] {
    let findings = try String.fetchAll(db, sql: "PRAGMA integrity_check(\(limit))")
    if findings == ["ok"] { return [] }
    let lines = findings.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }.map(String.init)
    return lines.isEmpty ? ["integrity_check finds damage"] : lines
  }

  /// Throws `corrupt` if the newest position of the event log is below one that was assigned, or out of range.
  ///
  /// `integrity_check` does not look at it. The next event would get a position that another one has.
  private static func checkPositions(_ db: Database) throws {
    guard try db.tableExists("event") else { return }
    let newest = try Row.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'")?.integer(0) ?? 0
    let assigned = try ["event", "event_gap"].map { table in
      try Row.fetchOne(db, sql: "SELECT MAX(position) FROM \(table)")?.integer(0) ?? 0
    }
    guard newest >= assigned.max() ?? 0, newest < 1 << 62 else {
      throw StoreOpenError.corrupt("the number of the newest event is wrong")
    }
  }

  /// Throws `corrupt` unless the database has exactly the tables, indexes, triggers and views of its version.
  static func compare(_ db: Database) throws {
    let expected = try expected(ofVersion: version(of: db))
    let found = try objects(db)
    guard found != expected else { return }
    let strange = found.subtracting(expected).map(\.kind).sorted().first
    throw StoreOpenError.corrupt(
      strange.map { "the schema has a \($0) that sdkd did not make" } ?? "a part of the schema is missing")
  }

  /// A table, index, trigger or view.
  private struct Object: Hashable {
    var kind: String
    var name: String
    var table: String
    var sql: String
  }

  /// The tables, indexes, triggers and views of the versions that have been compared.
  private static let known = Mutex<[Int: Set<Object>]>([:])

  private static func expected(ofVersion version: Int) throws -> Set<Object> {
    if let made = known.withLock({ $0[version] }) { return made }
    let database = try StoreConnection.memory()
    defer { try? database.close() }
    let made = try database.writeWithoutTransaction { db in
      for script in scripts.prefix(version) { try db.execute(sql: script) }
      return try objects(db)
    }
    known.withLock { $0[version] = made }
    return made
  }

  private static func objects(_ db: Database) throws -> Set<Object> {
    let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return Set(
      rows.map { row in
        Object(
          kind: row.text(0) ?? "", name: row.text(1) ?? "", table: row.text(2) ?? "", sql: row.text(3) ?? "")
      })
  }
}
