import FoundationEssentials
import JSONRPC
import SDKProtocol
import SQLite

/// The writing of an instance's push registrations and storage. The instance's row and its anchor, which authenticate
/// them, must be written afterwards.
struct RowWriter {
  let db: Database
  let id: InstanceID

  func putPush(_ push: StoredPush, in instance: inout OpenInstance) throws {
    let row = instance.row(.push, push.id, numbers: [instance.anchor.revision &+ 1])
    instance.pushes.removeAll { $0.tag == row.tag }
    guard instance.pushes.count < StoredPush.maximumCount else { throw SDKError.tooManyPushes(id) }
    instance.pushes.append(row)
    try row.write(name: Data(push.id.utf8), value: StoredJSON.data(of: push.value), under: instance.key, db)
  }

  func deletePush(_ push: String, in instance: inout OpenInstance) throws {
    let tag = instance.key.tag(of: push, in: .push)
    instance.pushes.removeAll { $0.tag == tag }
    try SealedRow.Table.push.delete(tag, of: instance.uuid, db)
  }

  func putValue(_ value: JSON, of key: String, limit: Int, in instance: inout OpenInstance) throws {
    let (name, text) = (Data(key.utf8), try StoredJSON.data(of: value))
    instance.anchor.storageRevision &+= 1
    let row = instance.row(
      .storage, key, numbers: [instance.anchor.storageRevision, UInt64(name.count), UInt64(text.count)])
    try forget(row.tag, in: &instance)
    instance.anchor.add(row, instance.key.storageDigestKey)
    guard instance.anchor.storageBytes <= UInt64(max(0, limit)) else { throw SDKError.storageFull(id, limit: limit) }
    try row.write(name: name, value: text, under: instance.key, db)
  }

  func deleteValue(of key: String, in instance: inout OpenInstance) throws {
    let tag = instance.key.tag(of: key, in: .storage)
    try forget(tag, in: &instance)
    try SealedRow.Table.storage.delete(tag, of: instance.uuid, db)
  }

  /// Removes the present storage row with this tag from the anchor.
  private func forget(_ tag: Data, in instance: inout OpenInstance) throws {
    let table = SealedRow.Table.storage
    let statement = try db.cachedStatement(sql: table.selection("NULL, NULL") + " WHERE instance = ? AND tag = ?")
    guard let found = try Row.fetchOne(statement, arguments: [instance.uuid.description, tag]) else { return }
    guard let row = SealedRow(found, of: table, storageEpoch: instance.storageEpoch),
      instance.anchor.remove(row, instance.key.storageDigestKey)
    else { throw SDKError.instanceQuarantined(id, InstanceProblem.text("its storage")) }
  }
}
