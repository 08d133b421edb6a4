import SDKProtocol
import SQLite

/// The event log as a whole: its bounds, and its losses to retention.
enum EventLog {
  /// Returns the newest position ever assigned. AUTOINCREMENT keeps it after the events are deleted.
  static func newest(_ db: Database) throws -> UInt64 {
    let statement = try db.cachedStatement(sql: "SELECT seq FROM sqlite_sequence WHERE name = 'event'")
    return try Row.fetchOne(statement)?.unsigned(0) ?? 0
  }

  static func events(after position: UInt64, limit: Int, _ db: Database) throws -> [Row] {
    // Positions are below 2^63, so no event follows a larger one.
    guard let position = Int64(exactly: position) else { return [] }
    let statement = try db.cachedStatement(
      sql: "SELECT position, instance, time, payload FROM event WHERE position > ? ORDER BY position LIMIT ?")
    return try Row.fetchAll(statement, arguments: [position, max(0, limit)])
  }

  /// Returns the instances that lost events after a position, each with the newest position that retention has removed,
  /// and with the number of the loss.
  static func lost(
    after position: UInt64, _ db: Database
  ) throws -> (positions: [InstanceUUID: UInt64], numbers: [InstanceUUID: UInt64]) {
    var lost: (positions: [InstanceUUID: UInt64], numbers: [InstanceUUID: UInt64]) = ([:], [:])
    guard let position = Int64(exactly: position) else { return lost }
    let statement = try db.cachedStatement(sql: "SELECT instance, position, time FROM event_gap WHERE position > ?")
    for row in try Row.fetchAll(statement, arguments: [position]) {
      guard let uuid = row.text(0).map(InstanceUUID.init), let position = row.unsigned(1) else { continue }
      lost.positions[uuid] = position
      lost.numbers[uuid] = UInt64(clamping: GapTable.number(row.real(2) ?? 0))
    }
    return lost
  }

  /// The maximum size, in bytes, of a deleted instance's sealed last event that is read at the start. The event holds
  /// the access rules for all events of that instance.
  private static let largestAudience = 64 << 10

  /// Returns the rows of the last events of deleted instances, in no order, with one index search for each instance. A
  /// payload larger than `largestAudience` is NULL; earlier versions wrote events without a limit.
  static func deleted(_ db: Database) throws -> [Row] {
    let gone = try Row.fetchAll(
      db,
      sql: """
        WITH RECURSIVE seen (uuid) AS (
          SELECT MIN(instance) FROM event
          UNION ALL
          SELECT (SELECT MIN(instance) FROM event WHERE instance > seen.uuid) FROM seen WHERE seen.uuid IS NOT NULL
        )
        SELECT uuid FROM seen
        WHERE uuid IS NOT NULL AND NOT EXISTS (SELECT 1 FROM instance WHERE instance.uuid = seen.uuid)
        """)
    let last = try db.cachedStatement(
      sql: """
        SELECT position, instance, time, CASE WHEN LENGTH(payload) <= ? THEN payload END
        FROM event WHERE instance = ? ORDER BY position DESC LIMIT 1
        """)
    return try gone.compactMap { row in
      try row.text(0).flatMap { try Row.fetchOne(last, arguments: [largestAudience, $0]) }
    }
  }
}
