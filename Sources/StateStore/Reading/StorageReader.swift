import FoundationEssentials
import JSONRPC
import SDKProtocol
import SQLite
import Synchronization

/// A reader of instances' storage. Its first read of an instance compares all storage rows with the anchor. Later reads
/// do not, because only this process writes.
final class StorageReader: Sendable {
  private let vault: Vault
  private let compared = Mutex<Set<InstanceUUID>>([])
  /// The maximum number of instances that are remembered as compared. Beyond it, all are compared again.
  private let limit: Int

  init(vault: Vault, limit: Int = .max) {
    self.vault = vault
    self.limit = limit
  }

  /// The number of instances that are remembered as compared.
  var comparedCount: Int { compared.withLock { $0.count } }

  private struct Place {
    let uuid: InstanceUUID
    let id: InstanceID
    let storageEpoch: UInt64
    let key: DataKey

    var damage: SDKError { .instanceQuarantined(id, InstanceProblem.text("its storage")) }

    /// Reads a row of `SealedRow.Table.selection`; `nil` if it is damaged.
    func row(_ found: Row) -> SealedRow? { SealedRow(found, of: .storage, storageEpoch: storageEpoch) }
  }

  func value(of uuid: InstanceUUID, key: String, _ db: Database) throws -> StoredValue? {
    guard let place = try place(of: uuid, db) else { return nil }
    let statement = try db.cachedStatement(
      sql: SealedRow.Table.storage.selection("NULL, value") + " WHERE instance = ? AND tag = ?")
    let tag = place.key.tag(of: key, in: .storage)
    guard let found = try Row.fetchOne(statement, arguments: [uuid.description, tag]) else {
      return StoredValue(value: nil, storageEpoch: place.storageEpoch)
    }
    guard let value = try? place.row(found)?.openedValue(under: place.key) else { throw place.damage }
    return StoredValue(value: value, storageEpoch: place.storageEpoch)
  }

  func keys(of uuid: InstanceUUID, _ db: Database) throws -> [(key: String, bytes: Int)] {
    guard let place = try place(of: uuid, db) else { return [] }
    let statement = try db.cachedStatement(
      sql: SealedRow.Table.storage.selection("name, NULL") + " WHERE instance = ?")
    return try open(try Row.fetchAll(statement, arguments: [uuid.description]), in: place).sorted { $0.key < $1.key }
  }

  /// Returns the next keys in the order of their tags. An index has this order, so the cost depends only on the page.
  func page(of uuid: InstanceUUID, after key: String?, limit: Int, _ db: Database) throws -> StoredKeys? {
    guard let place = try place(of: uuid, db) else { return nil }
    let statement = try db.cachedStatement(
      sql: SealedRow.Table.storage.selection("name, NULL") + " WHERE instance = ? AND tag > ? ORDER BY tag LIMIT ?")
    let tag = key.map { place.key.tag(of: $0, in: .storage) } ?? Data()
    let rows = try Row.fetchAll(statement, arguments: [uuid.description, tag, max(0, limit)])
    return StoredKeys(keys: try open(rows, in: place), storageEpoch: place.storageEpoch)
  }

  private func open(_ rows: [Row], in place: Place) throws -> [(key: String, bytes: Int)] {
    try rows.map { found in
      guard let row = place.row(found), let name = try? row.openedName(under: place.key) else { throw place.damage }
      return (key: name, bytes: Int(clamping: row.valueBytes))
    }
  }

  private func place(of uuid: InstanceUUID, _ db: Database) throws -> Place? {
    guard let row = try InstanceRow.fetch(uuid, db), let id = InstanceID(row.id) else { return nil }
    guard let keys = try? OpenInstance.keys(of: row, vault: vault) else {
      throw SDKError.instanceQuarantined(id, InstanceProblem.text("its data key"))
    }
    let place = Place(uuid: uuid, id: id, storageEpoch: row.storageEpoch, key: keys.key)
    if !compared.withLock({ $0.contains(uuid) }) {
      try compare(place, with: keys.anchor, db)
      compared.withLock { compared in
        if compared.count >= limit { compared = [] }
        compared.insert(uuid)
      }
    }
    return place
  }

  private func compare(_ place: Place, with anchor: Anchor, _ db: Database) throws {
    let digest = place.key.storageDigestKey
    var found = Anchor()
    let statement = try db.cachedStatement(
      sql: SealedRow.Table.storage.selection("NULL, NULL") + " WHERE instance = ?")
    let rows = try Row.fetchCursor(statement, arguments: [place.uuid.description])
    while let next = try rows.next() {
      guard let row = place.row(next) else { throw place.damage }
      found.add(row, digest)
    }
    guard found.storageBytes == anchor.storageBytes, found.storageDigest == anchor.storageDigest else {
      throw place.damage
    }
  }
}
