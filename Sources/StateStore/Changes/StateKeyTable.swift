import Cryptography
import SQLite

/// The table of the keyring's slots among the data keys.
enum StateKeyTable {
  private static let cursors = "cursors"
  private static let outboxNames = "outbox names"
  private static let events = "events"

  /// Returns the keyring of a state; `nil` before it has one.
  static func load(_ db: Database, _ wrapping: WrappingKey) throws -> Keyring? {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT s.slot, s.purpose, s.first, k.wrapped FROM state_key s LEFT JOIN data_key k ON k.slot = s.slot
        ORDER BY s.purpose, s.first
        """)
    guard !rows.isEmpty else { return nil }
    var keys: [String: [Keyring.EventKey]] = [:]
    for row in rows {
      guard let slot = row.integer(0), let purpose = row.text(1), let first = row.unsigned(2),
        let wrapped = row.data(3),
        let key = try? wrapping.unwrap(wrapped, for: .state(purpose: purpose, first: first), slot: slot)
      else { throw StoreOpenError.corrupt("a key of the state does not open") }
      keys[purpose, default: []].append(Keyring.EventKey(first: first, key: key))
    }
    guard let cursor = keys[cursors]?.first, let name = keys[outboxNames]?.first, let events = keys[events] else {
      throw StoreOpenError.corrupt("a key of the state is missing")
    }
    return Keyring(cursors: cursor.key, outboxNames: name.key, events: events)
  }

  /// Stores the keyring of a state.
  static func insert(_ keyring: Keyring, _ wrapping: WrappingKey, _ db: Database) throws {
    try insert(cursors, first: 0, keyring.cursors, wrapping, db)
    try insert(outboxNames, first: 0, keyring.outboxNames, wrapping, db)
    for event in keyring.events { try insert(events, first: event.first, event.key, wrapping, db) }
  }

  /// Begins another key for future events, and destroys keys that no longer seal any event.
  static func beginEventKey(_ wrapping: WrappingKey, _ db: Database) throws {
    let first = try EventLog.newest(db) &+ 1
    let oldest = try Row.fetchOne(db, sql: "SELECT MIN(position) FROM event")?.unsigned(0) ?? first
    let rows = try Row.fetchAll(
      db, sql: "SELECT slot, first FROM state_key WHERE purpose = ? ORDER BY first", arguments: [events])
    for (row, next) in zip(rows, rows.dropFirst()) {
      guard let slot = row.integer(0), let end = next.unsigned(1), end <= oldest else { continue }
      try db.execute(sql: "DELETE FROM state_key WHERE slot = ?", arguments: [slot])
      try KeyTable.clear(slot, db)
    }
    if rows.last?.unsigned(1) == first { return }
    try insert(events, first: first, SymmetricKey(), wrapping, db)
  }

  private static func insert(
    _ purpose: String, first: UInt64, _ key: SymmetricKey, _ wrapping: WrappingKey, _ db: Database
  ) throws {
    let slot = try KeyTable.take(db)
    try db.execute(
      sql: "INSERT INTO state_key (slot, purpose, first) VALUES (?, ?, ?)", arguments: [slot, purpose, first.stored])
    let wrapped = try wrapping.wrap(key, for: .state(purpose: purpose, first: first), slot: slot)
    try KeyTable.overwrite(slot, wrapped, db)
  }
}
