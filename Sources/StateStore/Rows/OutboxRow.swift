import FoundationEssentials
import SDKProtocol
import SQLite

/// An outbox entry's row with its key.
///
/// The row is bound to the revision in the anchor of its key, so that neither opens when only one of them is rolled
/// back. Rolling back both to the same earlier time is not detected until the entry is deleted. After that, its key is
/// in no file.
struct OutboxRow {
  static let selection = """
    SELECT name, value, \(SealedRow.Table.outbox.columns), wrapped, anchor FROM outbox LEFT JOIN data_key USING (slot)
    """

  let key: DataKey
  let anchor: Anchor
  private let row: SealedRow
  private let deadline: Timestamp

  /// Reads a row of `selection` and opens its key.
  init(_ found: Row, _ vault: Vault) throws(SealError) {
    guard let uuid = found.text(2).map(InstanceUUID.init), let tag = found.data(3), let slot = Self.slot(of: found),
      let deadline = found.real(5), let wrapped = found.data(6), let sealed = found.data(7)
    else { throw SealError(what: "the key of an outbox entry") }
    key = try DataKey(opening: wrapped, of: .outboxEntry(uuid, tag: tag), slot: slot, vault: vault)
    anchor = try Anchor(opening: sealed, under: key, of: uuid)
    self.deadline = Timestamp(secondsSince1970: deadline)
    row = SealedRow(
      of: uuid, tag: tag, key: key, anchor: anchor, deadline: self.deadline, name: found.data(0), value: found.data(1))
  }

  /// Returns the slot in a row of `selection`, also of one that does not open.
  static func slot(of found: Row) -> Int64? { found.integer(4) }

  /// Opens the entry.
  func opened() throws(SealError) -> StoredOutboxEntry {
    StoredOutboxEntry(
      id: try row.openedName(under: key), value: try row.openedValue(under: key), deadline: deadline)
  }
}

extension SealedRow {
  /// Creates the row of an outbox entry.
  init(
    of uuid: InstanceUUID, tag: Data, key: DataKey, anchor: Anchor, deadline: Timestamp, name: Data? = nil,
    value: Data? = nil
  ) {
    self.init(
      .outbox, of: uuid, scope: UInt64(bitPattern: key.slot), tag: tag,
      numbers: [deadline.secondsSince1970.bitPattern, anchor.revision], name: name, value: value)
  }
}
