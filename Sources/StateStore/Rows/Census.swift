import FoundationEssentials
import SDKProtocol
import SQLite

/// The number and a keyed digest of a state's instances. They show whether another program removed or added rows.
struct Census: Equatable {
  private(set) var count: UInt64 = 0
  private var digest = StorageDigest()

  init() {}

  /// Counts the instances that have rows now.
  init(counting db: Database, _ keys: CensusKeys) throws {
    let rows = try Row.fetchCursor(db, sql: "SELECT uuid FROM instance")
    while let row = try rows.next() { add(row.text(0) ?? "", keys) }
  }

  init(opening sealed: Data, _ keys: CensusKeys) throws(SealError) {
    let numbers = try Seal.openNumbers(sealed, count: 3, under: keys.seal, Self.context, what: "the census")
    count = numbers[0]
    digest = StorageDigest(high: numbers[1], low: numbers[2])
  }

  func sealed(_ keys: CensusKeys) throws(SealError) -> Data {
    try Seal.seal([count, digest.high, digest.low], under: keys.seal, Self.context)
  }

  mutating func add(_ uuid: String, _ keys: CensusKeys) {
    count &+= 1
    toggle(uuid, keys)
  }

  mutating func remove(_ uuid: String, _ keys: CensusKeys) {
    count &-= 1
    toggle(uuid, keys)
  }

  private mutating func toggle(_ uuid: String, _ keys: CensusKeys) {
    var row = AdditionalData("instance.uuid")
    row.append(uuid)
    digest.toggle(row, key: keys.digest)
  }

  private static var context: AdditionalData { AdditionalData("meta.census") }
}

/// The census in the table `meta`.
enum CensusTable {
  /// Adds an instance that is about to be inserted.
  static func add(_ uuid: InstanceUUID, _ vault: Vault, _ db: Database) throws {
    try change(vault, db) { $0.add(uuid.description, $1) }
  }

  /// Removes a deleted instance.
  static func remove(_ uuid: InstanceUUID, _ vault: Vault, _ db: Database) throws {
    try change(vault, db) { $0.remove(uuid.description, $1) }
  }

  /// Replaces the census by a new count of the present rows.
  static func write(_ keys: CensusKeys, _ db: Database) throws {
    try MetaTable.setCensus(try Census(counting: db, keys).sealed(keys), db)
  }

  /// Returns a description of the difference between the census and the rows for the operator; `nil` when they agree.
  static func problem(_ keys: CensusKeys, _ db: Database) throws -> String? {
    let found = try Census(counting: db, keys)
    guard let sealed = try MetaTable.census(db), let kept = try? Census(opening: sealed, keys) else {
      return "the count of instances is missing or was changed; \(found.count) are there"
    }
    if found == kept { return nil }
    return found.count < kept.count
      ? "\(kept.count - found.count) of \(kept.count) instances are missing"
      : "rows of instances were put in or replaced; \(found.count) are there, \(kept.count) were"
  }

  private static func change(_ vault: Vault, _ db: Database, _ body: (inout Census, CensusKeys) -> Void) throws {
    let keys = vault.censusKeys
    guard let sealed = try MetaTable.census(db) else { throw StoreOpenError.corrupt("the census is missing") }
    var census = try Census(opening: sealed, keys)
    body(&census, keys)
    try MetaTable.setCensus(try census.sealed(keys), db)
  }
}
