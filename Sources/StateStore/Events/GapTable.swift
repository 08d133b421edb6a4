import FoundationEssentials
import SDKProtocol
import SQLite

/// The losses of the event log to retention: for each instance, the newest lost position and the number of the loss.
///
/// Later losses have higher numbers, so that a reader who was notified of one is also notified of the next, whatever its
/// position is. A digest of all rows shows whether one was changed, which would hide a loss.
struct GapTable {
  private let db: Database
  private let keys: CensusKeys
  private var seal: GapSeal
  /// The time of the losses that are noted with this value, in milliseconds. It is their number.
  private let number: Int64

  /// Prepares to note losses. `save` ends that.
  init(_ db: Database, _ keys: CensusKeys, at time: Timestamp) throws {
    self.db = db
    self.keys = keys
    seal = try Self.stored(db, keys) ?? Self.counted(db, keys)
    number = max(Self.number(time.secondsSince1970), seal.newest &+ 1)
    seal.newest = number
  }

  /// Returns the number of the loss that was noted at a time in seconds since 1970.
  static func number(_ time: Double) -> Int64 { Int64(clamping: UInt64(max(0, min(time, 1e15)) * 1000 + 0.5)) }

  /// Notes that an instance has lost its events up to a position.
  mutating func note(_ uuid: String, _ position: Int64) throws {
    let former = try forget(uuid)
    let time = Double(number) / 1000
    let last = max(position, former ?? position)
    try db.cachedStatement(sql: "INSERT INTO event_gap (instance, position, time) VALUES (?, ?, ?)")
      .execute(arguments: [uuid, last, time])
    seal.toggle(uuid, last, time, keys)
  }

  /// Removes the loss of an instance, and returns its position.
  @discardableResult
  mutating func forget(_ uuid: String) throws -> Int64? {
    let select = try db.cachedStatement(sql: "SELECT position, time FROM event_gap WHERE instance = ?")
    guard let row = try Row.fetchOne(select, arguments: [uuid]) else { return nil }
    let position = row.integer(0) ?? 0
    seal.toggle(uuid, position, row.real(1) ?? 0, keys)
    try db.cachedStatement(sql: "DELETE FROM event_gap WHERE instance = ?").execute(arguments: [uuid])
    return position
  }

  /// Stores the digest of the rows.
  func save() throws { try MetaTable.setGaps(try seal.sealed(keys), db) }

  /// Repairs the losses if a row of them was changed: then all readers of events get a gap. Returns whether that was
  /// necessary. Writes the first digest of a state that has none.
  static func repair(_ db: Database, _ keys: CensusKeys, at time: Timestamp) throws -> Bool {
    let isFirst = try MetaTable.gaps(db) == nil
    let counted = try counted(db, keys)
    if try !isFirst && stored(db, keys)?.digest == counted.digest { return false }
    var table = try GapTable(db, keys, at: time)
    table.seal.digest = counted.digest
    if !isFirst { try table.note(InstanceUUID.anyDeleted.description, EventLog.newest(db).stored) }
    try table.save()
    return !isFirst
  }

  private static func stored(_ db: Database, _ keys: CensusKeys) throws -> GapSeal? {
    try MetaTable.gaps(db).flatMap { try? GapSeal(opening: $0, keys) }
  }

  private static func counted(_ db: Database, _ keys: CensusKeys) throws -> GapSeal {
    var seal = GapSeal()
    let rows = try Row.fetchCursor(db, sql: "SELECT instance, position, time FROM event_gap")
    while let row = try rows.next() {
      let time = row.real(2) ?? 0
      seal.toggle(row.text(0) ?? "", row.integer(1) ?? 0, time, keys)
      seal.newest = max(seal.newest, number(time))
    }
    return seal
  }
}

/// The digest of all losses, and the highest number of a loss.
private struct GapSeal {
  var digest = StorageDigest()
  var newest: Int64 = 0

  init() {}

  init(opening sealed: Data, _ keys: CensusKeys) throws(SealError) {
    let numbers = try Seal.openNumbers(
      sealed, count: 3, under: keys.seal, Self.context, what: "the list of lost events")
    digest = StorageDigest(high: numbers[0], low: numbers[1])
    newest = Int64(clamping: numbers[2])
  }

  func sealed(_ keys: CensusKeys) throws(SealError) -> Data {
    try Seal.seal([digest.high, digest.low, UInt64(clamping: newest)], under: keys.seal, Self.context)
  }

  /// Adds a row to the digest, or removes it.
  mutating func toggle(_ uuid: String, _ position: Int64, _ time: Double, _ keys: CensusKeys) {
    var row = AdditionalData("event_gap")
    row.append(uuid)
    row.append(UInt64(bitPattern: position))
    row.append(time.bitPattern)
    digest.toggle(row, key: keys.digest)
  }

  private static var context: AdditionalData { AdditionalData("meta.gaps") }
}
