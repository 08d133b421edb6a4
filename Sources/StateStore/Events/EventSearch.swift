import GRDB

/// Finds the next events of some instances without looking at more of the log than it must.
enum EventSearch {
  /// The rows `position, instance, time, payload` found, and the position up to which everything was looked at.
  typealias Found = (rows: [Row], reached: UInt64)

  /// Up to so many instances are looked up one by one in the index; the log is walked for more.
  private static let lookupLimit = 64
  /// How many rows one walk looks at.
  private static let walkLimit = 8192
  private static let columns = "SELECT position, instance, time, payload FROM event"

  /// The next events after a position, at most `limit`.
  static func next(after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?, _ db: Database) throws -> Found
  {
    let newest = try EventLog.newest(db)
    // Positions are below 2^63; what lies above has nothing after it.
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
