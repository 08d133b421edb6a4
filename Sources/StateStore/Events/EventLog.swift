import GRDB
import SDKProtocol

/// The log of events as a whole: where it begins and ends, and what retention takes.
enum EventLog {
  /// The newest position ever given; AUTOINCREMENT keeps it when the events are gone.
  static func newest(_ db: Database) throws -> UInt64 {
    let statement = try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'")
    return try Row.fetchOne(statement)?.unsigned(0) ?? 0
  }

  static func bounds(_ db: Database) throws -> EventBounds {
    var dropped: [InstanceUUID: UInt64] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT instance, position FROM event_gap") {
      if let uuid = row.text(0), let position = row.unsigned(1) { dropped[InstanceUUID(uuid)] = position }
    }
    return EventBounds(newest: try newest(db), dropped: dropped.values.max() ?? 0, droppedByInstance: dropped)
  }

  static func events(after position: UInt64, limit: Int, _ db: Database) throws -> [Row] {
    // Positions are below 2^63; what lies above has nothing after it.
    guard let position = Int64(exactly: position) else { return [] }
    let statement = try db.cachedStatement(
      sql: "SELECT position, instance, time, payload FROM event WHERE position > ? ORDER BY position LIMIT ?")
    return try Row.fetchAll(statement, arguments: [position, max(0, limit)])
  }

  /// Drops what retention does not keep and notes up to where, for each instance.
  static func retain(_ retention: EventRetention, at time: Timestamp, _ db: Database) throws {
    let oldest = (time - retention.maxAge).secondsSince1970
    try drop(
      """
      SELECT instance, MAX(position) FROM event WHERE time < ? GROUP BY instance
      """, [oldest], deleting: "DELETE FROM event WHERE time < ?", [oldest], at: time, db)
    let crowded = try Row.fetchAll(
      db, sql: "SELECT instance FROM event GROUP BY instance HAVING COUNT(*) > ?",
      arguments: [retention.maxCountPerInstance])
    for uuid in crowded.compactMap({ $0.text(0) }) {
      let last = try Row.fetchOne(
        db, sql: "SELECT position FROM event WHERE instance = ? ORDER BY position DESC LIMIT 1 OFFSET ?",
        arguments: [uuid, retention.maxCountPerInstance])
      guard let position = last?.integer(0) else { continue }
      try drop(
        "SELECT ?, ?", [uuid, position], deleting: "DELETE FROM event WHERE instance = ? AND position <= ?",
        [uuid, position], at: time, db)
    }
    // An instance that is gone, with all of its events, long enough ago that no cursor of then is worth keeping.
    try db.execute(
      sql: """
        DELETE FROM event_gap WHERE time < ? AND instance NOT IN (SELECT uuid FROM instance)
          AND instance NOT IN (SELECT instance FROM event)
        """, arguments: [oldest])
  }

  private static func drop(
    _ gaps: String, _ gapArguments: StatementArguments, deleting: String, _ arguments: StatementArguments,
    at time: Timestamp, _ db: Database
  ) throws {
    try db.execute(
      sql: """
        INSERT INTO event_gap (instance, position, time) SELECT *, ? FROM (\(gaps)) WHERE true
        ON CONFLICT (instance) DO UPDATE SET position = MAX(position, excluded.position), time = excluded.time
        """, arguments: [time.secondsSince1970] + gapArguments)
    try db.execute(sql: deleting, arguments: arguments)
  }
}
