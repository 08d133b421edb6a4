import GRDB
import SDKProtocol

/// Keeps the log within its retention, in pieces of a bounded size: an instance that writes too much loses its oldest
/// events soon after, and a sweep walks through the whole log now and then.
struct EventPruner {
  var retention: EventRetention
  /// How many events each instance has that has written lately.
  private var counts: [InstanceUUID: Int] = [:]
  private var written: [InstanceUUID: Int] = [:]
  /// The instances that are gone and have events, the first that went first; `nil` until the log was looked at.
  private var gone: [String]?
  /// The instance up to which the sweep in progress has come; `nil` while it looks at age.
  private var place: String?

  /// How many events a piece removes, and how many instances it looks at.
  private static let eventLimit = 512
  private static let instanceLimit = 64
  private static let countCapacity = 65_536
  /// Of so many instances that are gone the events are kept: whoever may create and delete could fill the disk.
  static let goneLimit = 1024

  init(_ retention: EventRetention) { self.retention = retention }

  /// Events that are kept beyond the bound, so that not each new one has to remove an old one.
  private var slack: Int { retention.maxCountPerInstance / 8 }

  /// Takes note of what was written.
  mutating func note(_ events: [StoredEvent]) {
    for event in events {
      written[event.uuid, default: 0] += 1
      if event.type == .instanceDeleted { gone?.append(event.uuid.description) }
    }
  }

  /// What is known is not trusted any more: a transaction failed.
  mutating func forget() {
    counts = [:]
    written = [:]
    gone = nil
  }

  /// Removes what the instances that have written since the last time have too much.
  mutating func prune(at time: Timestamp, _ db: Database) throws {
    guard !written.isEmpty else { return }
    if counts.count > Self.countCapacity { counts = [:] }
    for (uuid, added) in written {
      counts[uuid] = try counts[uuid].map { $0 + added } ?? count(of: uuid, db)
    }
    let crowded = written.keys.filter { counts[$0, default: 0] > retention.maxCountPerInstance + slack }
    written = [:]
    let surplus = try gone(db).prefix(max(0, gone(db).count - Self.goneLimit)).prefix(Self.instanceLimit)
    guard !crowded.isEmpty || !surplus.isEmpty else { return }
    try db.inTransaction(.immediate) {
      for uuid in crowded { _ = try dropCrowd(of: uuid.description, limit: .max, at: time, db) }
      for uuid in surplus { try dropAll(of: uuid, at: time, db) }
      return .commit
    }
    for uuid in crowded { counts[uuid] = retention.maxCountPerInstance }
    gone?.removeFirst(surplus.count)
  }

  private mutating func gone(_ db: Database) throws -> [String] {
    if let gone { return gone }
    let rows = try EventLog.deleted(db).map { (position: $0.integer(0) ?? 0, uuid: $0.text(1) ?? "") }
    let found = rows.sorted { $0.position < $1.position }.map(\.uuid)
    gone = found
    return found
  }

  /// Does one piece of a sweep.
  ///
  /// - Returns: whether more is to be done; `false` at the end of the log.
  mutating func sweepPiece(at time: Timestamp, _ db: Database) throws -> Bool {
    let former = place
    do {
      let oldest = (time - retention.maxAge).secondsSince1970
      var isEnd = false
      try db.inTransaction(.immediate) {
        if place == nil, try dropAged(before: oldest, at: time, db) { return .commit }
        isEnd = try walk(at: time, db)
        if isEnd { try forgetGaps(before: oldest, db) }
        return .commit
      }
      if isEnd { place = nil }
      return !isEnd
    } catch {
      place = former
      throw error
    }
  }

  private func count(of uuid: InstanceUUID, _ db: Database) throws -> Int {
    let statement = try db.cachedStatement(sql: "SELECT COUNT(*) FROM event WHERE instance = ?")
    return Int(clamping: try Row.fetchOne(statement, arguments: [uuid.description])?.integer(0) ?? 0)
  }

  /// Looks at the next instances; true at the end.
  private mutating func walk(at time: Timestamp, _ db: Database) throws -> Bool {
    let next = try db.cachedStatement(sql: "SELECT MIN(instance) FROM event WHERE instance > ?")
    for _ in 0..<Self.instanceLimit {
      guard let uuid = try Row.fetchOne(next, arguments: [place ?? ""])?.text(0) else { return true }
      // A very crowded one is not left before it is done.
      if try dropCrowd(of: uuid, limit: Self.eventLimit, at: time, db) == Self.eventLimit { return false }
      place = uuid
    }
    return false
  }

  /// Removes what an instance has too much, from its oldest; how many events that were.
  private mutating func dropCrowd(of uuid: String, limit: Int, at time: Timestamp, _ db: Database) throws -> Int {
    let newestLost = try db.cachedStatement(
      sql: "SELECT position FROM event WHERE instance = ? ORDER BY position DESC LIMIT 1 OFFSET ?")
    guard
      let last = try Row.fetchOne(newestLost, arguments: [uuid, retention.maxCountPerInstance])?.integer(0)
    else { return 0 }
    return try drop(
      "SELECT position, instance FROM event WHERE instance = ? AND position <= ? ORDER BY position LIMIT ?",
      [uuid, last, limit], at: time, db)
  }

  /// Removes all of an instance that is gone, and that it ever was there. What was lost is noted for all such together.
  private mutating func dropAll(of uuid: String, at time: Timestamp, _ db: Database) throws {
    _ = try drop("SELECT position, '' FROM event WHERE instance = ? LIMIT ?", [uuid, Int.max], at: time, db)
    try db.cachedStatement(sql: "DELETE FROM event_gap WHERE instance = ?").execute(arguments: [uuid])
  }

  /// Removes the oldest of what is too old; whether there may be more.
  private mutating func dropAged(before oldest: Double, at time: Timestamp, _ db: Database) throws -> Bool {
    let count = try drop(
      "SELECT position, instance FROM event WHERE time < ? ORDER BY time, position LIMIT ?", [oldest, Self.eventLimit],
      at: time, db)
    return count == Self.eventLimit
  }

  private mutating func drop(
    _ selection: String, _ arguments: StatementArguments, at time: Timestamp, _ db: Database
  ) throws -> Int {
    let rows = try Row.fetchAll(try db.cachedStatement(sql: selection), arguments: arguments)
    let delete = try db.cachedStatement(sql: "DELETE FROM event WHERE position = ?")
    var last: [String: Int64] = [:]
    for row in rows {
      guard let position = row.integer(0), let uuid = row.text(1) else { continue }
      try delete.execute(arguments: [position])
      last[uuid] = max(last[uuid] ?? 0, position)
    }
    let note = try db.cachedStatement(
      sql: """
        INSERT INTO event_gap (instance, position, time) VALUES (?, ?, ?)
        ON CONFLICT (instance) DO UPDATE SET position = MAX(position, excluded.position), time = excluded.time
        """)
    for (uuid, position) in last {
      try note.execute(arguments: [uuid, position, time.secondsSince1970])
      counts[InstanceUUID(uuid)] = nil
    }
    return rows.count
  }

  /// Forgets what an instance has lost that is gone with all of its events, so long ago that no cursor of then is
  /// worth keeping.
  private func forgetGaps(before oldest: Double, _ db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM event_gap WHERE time < ? AND NOT EXISTS (SELECT 1 FROM instance WHERE uuid = event_gap.instance)
          AND NOT EXISTS (SELECT 1 FROM event WHERE event.instance = event_gap.instance)
        """, arguments: [oldest])
  }
}
