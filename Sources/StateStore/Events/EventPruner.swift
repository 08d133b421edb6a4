import SDKProtocol
import SQLite

/// The limits on the age of events and on their number for each instance.
public struct EventRetention: Sendable, Hashable {
  /// The age in seconds after which an event is removed.
  public var maxAge: Double
  /// The maximum number of events that are kept for one instance.
  public var maxCountPerInstance: Int

  /// Creates limits. `maxAge` is in seconds. The defaults are seven days and a thousand events.
  public init(maxAge: Double = 7 * 86_400, maxCountPerInstance: Int = 1000) {
    self.maxAge = maxAge
    self.maxCountPerInstance = max(0, maxCountPerInstance)
  }
}

/// The enforcement of retention on the event log. `prune` removes the oldest events of instances that have just written
/// too many. `sweepPiece` walks through the whole log in pieces.
struct EventPruner {
  /// The limits of the present call.
  private var retention = EventRetention()
  private let vault: Vault
  /// The number of events of each instance that has written recently.
  private var counts: [InstanceUUID: Int] = [:]
  private var written: [InstanceUUID: Int] = [:]
  /// The deleted instances that still have events, in the order of their deletion; `nil` until read from the log.
  private var gone: [String]?
  /// The last instance that the current sweep has finished; `nil` before the first one.
  private var place: String?

  /// The limits of a sweep piece: the events that it removes by age or from one instance, and the instances that it
  /// checks.
  private static let eventLimit = 512
  private static let instanceLimit = 64
  private static let countCapacity = 65_536
  /// The number of deleted instances whose events are kept. Without this limit, repeated creation and deletion could
  /// fill the disk.
  static let goneLimit = 1024

  init(_ vault: Vault) { self.vault = vault }

  /// The number of events tolerated above the limit, so that not every new event has to remove an old one.
  private var slack: Int { retention.maxCountPerInstance / 8 }

  /// Counts the events that were written.
  mutating func note(_ events: [StoredEvent]) {
    for event in events {
      written[event.uuid, default: 0] += 1
      if event.type == .instanceDeleted { gone?.append(event.uuid.description) }
    }
  }

  /// Discards all counts after a failed transaction.
  mutating func forget() {
    counts = [:]
    written = [:]
    gone = nil
  }

  /// Removes excess events of the instances that have written since the last call, and the events of excess deleted
  /// instances.
  mutating func prune(_ retention: EventRetention, at time: Timestamp, _ db: Database) throws {
    self.retention = retention
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
      for uuid in crowded { try dropCrowd(of: uuid.description, at: time, db) }
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

  /// Performs one piece of a sweep.
  ///
  /// - Returns: whether more pieces follow; `false` at the end of the log.
  mutating func sweepPiece(_ retention: EventRetention, at time: Timestamp, _ db: Database) throws -> Bool {
    self.retention = retention
    let former = place
    do {
      let oldest = (time - retention.maxAge).secondsSince1970
      var isEnd = false
      try db.inTransaction(.immediate) {
        if place == nil, try dropAged(before: oldest, at: time, db) { return .commit }
        isEnd = try walk(at: time, db)
        if isEnd { try mergeGaps(before: oldest, at: time, db) }
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

  /// Removes excess events of the next instances. Returns whether the end of the log was reached.
  private mutating func walk(at time: Timestamp, _ db: Database) throws -> Bool {
    // A row for each instance, with the position of its newest excess event; one without an instance at the end.
    let next = try db.cachedStatement(
      sql: """
        WITH RECURSIVE next(instance) AS (
          SELECT MIN(instance) FROM event WHERE instance > ?
          UNION ALL
          SELECT (SELECT MIN(instance) FROM event WHERE instance > next.instance) FROM next
            WHERE instance IS NOT NULL LIMIT ?
        )
        SELECT instance,
          (SELECT position FROM event WHERE instance = next.instance ORDER BY position DESC LIMIT 1 OFFSET ?) FROM next
        """)
    let rows = try Row.fetchAll(next, arguments: [place ?? "", Self.instanceLimit, retention.maxCountPerInstance])
    for row in rows {
      guard let uuid = row.text(0) else { return true }
      // An instance with more excess events continues in the next piece.
      let dropped = try drop(from: uuid, upTo: row.integer(1), limit: Self.eventLimit, at: time, db)
      if dropped == Self.eventLimit { return false }
      place = uuid
    }
    return false
  }

  /// Removes the excess events of an instance.
  private mutating func dropCrowd(of uuid: String, at time: Timestamp, _ db: Database) throws {
    let newestLost = try db.cachedStatement(
      sql: "SELECT position FROM event WHERE instance = ? ORDER BY position DESC LIMIT 1 OFFSET ?")
    let last = try Row.fetchOne(newestLost, arguments: [uuid, retention.maxCountPerInstance])?.integer(0)
    _ = try drop(from: uuid, upTo: last, limit: .max, at: time, db)
  }

  /// Removes the oldest events of an instance up to a position, at most `limit`. Returns the number of removed events.
  private mutating func drop(
    from uuid: String, upTo last: Int64?, limit: Int, at time: Timestamp, _ db: Database
  ) throws -> Int {
    guard let last else { return 0 }
    return try drop(
      "SELECT position, instance FROM event WHERE instance = ? AND position <= ? ORDER BY position LIMIT ?",
      [uuid, last, limit], at: time, db)
  }

  /// Removes all events of a deleted instance.
  private mutating func dropAll(of uuid: String, at time: Timestamp, _ db: Database) throws {
    _ = try drop("SELECT position, instance FROM event WHERE instance = ?", [uuid], at: time, db)
  }

  /// Removes a batch of events from before `oldest`, in seconds since 1970. Returns whether more such events may exist.
  private mutating func dropAged(before oldest: Double, at time: Timestamp, _ db: Database) throws -> Bool {
    let count = try drop(
      "SELECT position, instance FROM event WHERE time < ? ORDER BY time, position LIMIT ?", [oldest, Self.eventLimit],
      at: time, db)
    return count == Self.eventLimit
  }

  /// Removes the selected events, and notes the loss of each instance. Deleted instances of which no event is left
  /// share one note, because their access rules are not kept any longer.
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
    guard !last.isEmpty else { return rows.count }
    var gaps = try GapTable(db, vault.censusKeys, at: time)
    for (uuid, position) in last {
      let isGone = try isGone(uuid, db)
      if isGone { try gaps.forget(uuid) }
      try gaps.note(isGone ? InstanceUUID.anyDeleted.description : uuid, position)
      counts[InstanceUUID(uuid)] = nil
    }
    try gaps.save()
    return rows.count
  }

  /// Whether an instance was deleted and has no events.
  private func isGone(_ uuid: String, _ db: Database) throws -> Bool {
    let statement = try db.cachedStatement(
      sql: """
        SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM instance WHERE uuid = ?)
          AND NOT EXISTS (SELECT 1 FROM event WHERE instance = ?)
        """)
    return try Row.fetchOne(statement, arguments: [uuid, uuid]) != nil
  }

  /// Merges the gaps of deleted instances without events that were noted before `oldest` into the note that these
  /// instances share. That note stays: a cursor of any age that lies before it needs the gap.
  private func mergeGaps(before oldest: Double, at time: Timestamp, _ db: Database) throws {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT instance, position FROM event_gap WHERE time < ? AND instance <> ?
          AND NOT EXISTS (SELECT 1 FROM instance WHERE uuid = event_gap.instance)
          AND NOT EXISTS (SELECT 1 FROM event WHERE event.instance = event_gap.instance)
        """, arguments: [oldest, InstanceUUID.anyDeleted.description])
    guard let newest = rows.compactMap({ $0.integer(1) }).max() else { return }
    var gaps = try GapTable(db, vault.censusKeys, at: time)
    for row in rows { if let uuid = row.text(0) { try gaps.forget(uuid) } }
    try gaps.note(InstanceUUID.anyDeleted.description, newest)
    try gaps.save()
  }
}
