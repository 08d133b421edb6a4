import SQLite

/// The search for the next events of some instances. It reads as little of the log as it can.
enum EventSearch {
  /// The rows found, with the columns `position, instance, time, payload`, and the position up to which the log was
  /// searched.
  typealias Found = (rows: [Row], reached: UInt64)

  /// The number of instances up to which each is looked up in the index. For more instances, the log is walked.
  private static let lookupLimit = 64
  /// The maximum number of rows that one walk reads.
  private static let walkLimit = 8192
  private static let columns = "SELECT position, instance, time, payload FROM event"

  /// Returns the next events of some instances, or of all for `nil`, after a position, at most `limit`.
  static func next(after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?, _ db: Database) throws -> Found
  {
    let newest = try EventLog.newest(db)
    // Positions are below 2^63, so no event follows a larger one.
    guard let start = Int64(exactly: position), position < newest, limit > 0 else { return ([], max(position, newest)) }
    guard let instances else {
      let rows = try EventLog.events(after: position, limit: limit, db)
      return (rows, rows.count < limit ? newest : rows.last?.unsigned(0) ?? newest)
    }
    return instances.count <= lookupLimit
      ? try lookUp(instances, after: start, limit: limit, newest: newest, db)
      : try walk(for: instances, after: start, limit: limit, newest: newest, db)
  }

  private static func lookUp(
    _ instances: Set<InstanceUUID>, after start: Int64, limit: Int, newest: UInt64, _ db: Database
  ) throws -> Found {
    let search = try db.cachedStatement(
      sql: "SELECT position FROM event WHERE instance = ? AND position > ? ORDER BY position LIMIT ?")
    var positions: [Int64] = []
    for instance in instances {
      let rows = try Row.fetchAll(search, arguments: [instance.description, start, limit])
      positions += rows.compactMap { $0.integer(0) }
    }
    positions.sort()
    let fetch = try db.cachedStatement(sql: "\(columns) WHERE position = ?")
    let rows = try positions.prefix(limit).compactMap { try Row.fetchOne(fetch, arguments: [$0]) }
    return (rows, positions.count < limit ? newest : rows.last?.unsigned(0) ?? newest)
  }

  private static func walk(
    for instances: Set<InstanceUUID>, after start: Int64, limit: Int, newest: UInt64, _ db: Database
  ) throws -> Found {
    let names = Set(instances.map(\.description))
    let statement = try db.cachedStatement(sql: "\(columns) WHERE position > ? ORDER BY position LIMIT ?")
    let cursor = try Row.fetchCursor(statement, arguments: [start, walkLimit])
    var rows: [Row] = []
    var seen = 0
    var last: UInt64?
    while rows.count < limit, let row = try cursor.next() {
      seen += 1
      last = row.unsigned(0)
      if let name = row.text(1), names.contains(name) { rows.append(row.copy()) }
    }
    let isEnd = rows.count < limit && seen < walkLimit
    return (rows, isEnd ? newest : last ?? newest)
  }
}
