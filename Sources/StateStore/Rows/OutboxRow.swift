import SDKProtocol
import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An outbox entry's row and the row of its key, as stored in the database.
///
/// The row is bound to the revision in the anchor of its key, so that neither opens when only one of them is rolled
/// back. Rolling back both to the same earlier time is not detected until the entry is deleted. After that, its key is
/// in no file.
struct OutboxRow {
  static let selection = """
    SELECT o.slot, o.instance, o.tag, o.deadline, o.name, o.value, k.wrapped, k.anchor
    FROM outbox o LEFT JOIN data_key k ON k.slot = o.slot
    """

  var slot: Int64
  var uuid: InstanceUUID
  var tag: Data
  var deadline: Timestamp
  var name: Data
  var value: Data
  var wrapped: Data?
  var anchor: Data?

  init?(_ row: Row) {
    guard let slot = row.integer(0), let uuid = row.text(1), let tag = row.data(2), let deadline = row.real(3),
      let name = row.data(4), let value = row.data(5)
    else { return nil }
    self.slot = slot
    self.uuid = InstanceUUID(uuid)
    self.tag = tag
    self.deadline = Timestamp(secondsSince1970: deadline)
    self.name = name
    self.value = value
    wrapped = row.data(6)
    anchor = row.data(7)
  }

  /// Opens the entry of the row.
  func opened(_ vault: Vault) throws(SealError) -> StoredOutboxEntry {
    let problem = "an outbox entry"
    let (key, anchor) = try keys(vault)
    let id = try Seal.open(name, under: key.key, context("outbox.name", anchor), what: problem)
    let text = try Seal.open(value, under: key.key, context("outbox.value", anchor), what: problem)
    guard let value = StoredJSON.json(of: text) else { throw SealError(what: problem) }
    return StoredOutboxEntry(id: String(decoding: id, as: UTF8.self), value: value, deadline: deadline)
  }

  /// Returns the key of the entry, and the anchor that authenticates the row.
  func keys(_ vault: Vault) throws(SealError) -> (key: DataKey, anchor: Anchor) {
    guard let wrapped, let anchor else { throw SealError(what: "the key of an outbox entry") }
    let key = try DataKey(opening: wrapped, of: .outboxEntry(uuid, tag: tag), slot: slot, vault: vault)
    return (key, try Anchor(opening: anchor, under: key, of: uuid))
  }

  private func context(_ column: String, _ anchor: Anchor) -> AdditionalData {
    Self.context(column, of: uuid, slot: slot, tag: tag, deadline: deadline, anchor)
  }

  static func context(
    _ column: String, of uuid: InstanceUUID, slot: Int64, tag: Data, deadline: Timestamp, _ anchor: Anchor
  ) -> AdditionalData {
    var context = AdditionalData(column, of: uuid)
    context.append(UInt64(bitPattern: slot))
    context.append(field: tag)
    context.append(deadline)
    context.append(anchor.revision)
    return context
  }
}
