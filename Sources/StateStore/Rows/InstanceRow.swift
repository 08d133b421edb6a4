import FoundationEssentials
import SQLite

/// An instance's row and the row of its key, as stored in the database.
struct InstanceRow {
  static let selection = """
    SELECT i.uuid, i.id, i.created_at, i.epoch, i.storage_epoch, i.slot, i.definition, i.identity, k.wrapped, k.anchor
    FROM instance i LEFT JOIN data_key k ON k.slot = i.slot
    """

  var uuid: InstanceUUID
  var id: String
  var createdAt: Double
  var epoch: UInt64
  var storageEpoch: UInt64
  var slot: Int64
  var definition: Data
  var identity: Data
  var wrapped: Data?
  var anchor: Data?

  init?(_ row: Row) {
    guard let uuid = row.text(0), let id = row.text(1), let createdAt = row.real(2), let epoch = row.unsigned(3),
      let storageEpoch = row.unsigned(4), let slot = row.integer(5), let definition = row.data(6),
      let identity = row.data(7)
    else { return nil }
    self.uuid = InstanceUUID(uuid)
    self.id = id
    self.createdAt = createdAt
    self.epoch = epoch
    self.storageEpoch = storageEpoch
    self.slot = slot
    self.definition = definition
    self.identity = identity
    wrapped = row.data(8)
    anchor = row.data(9)
  }

  static func fetch(_ uuid: InstanceUUID, _ db: Database) throws -> InstanceRow? {
    let statement = try db.cachedStatement(sql: selection + " WHERE i.uuid = ?")
    return try Row.fetchOne(statement, arguments: [uuid.description]).flatMap(InstanceRow.init)
  }
}
