import JSONRPC
import SDKProtocol
import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The writing of an instance's storage and the matching update of its anchor.
struct StorageWriter {
  let db: Database
  let id: InstanceID

  func put(_ key: String, _ value: JSON, limit: Int, in instance: inout OpenInstance) throws {
    let keys = StorageKeys(instance.key)
    let text = try StoredJSON.data(of: value)
    let name = Data(key.utf8)
    instance.anchor.storageRevision &+= 1
    let row = StorageRow(
      tag: keys.tag(of: key), revision: instance.anchor.storageRevision, keyBytes: name.count, valueBytes: text.count)
    try forget(row.tag, keys, in: &instance)
    instance.anchor.storageBytes &+= row.bytes
    guard instance.anchor.storageBytes <= UInt64(max(0, limit)) else { throw SDKError.storageFull(id, limit: limit) }
    keys.toggle(row, in: &instance.anchor, of: instance.uuid, storageEpoch: instance.storageEpoch)
    try write(row, name, text, in: instance)
  }

  func delete(_ key: String, in instance: inout OpenInstance) throws {
    let keys = StorageKeys(instance.key)
    let tag = keys.tag(of: key)
    try forget(tag, keys, in: &instance)
    let statement = try db.cachedStatement(sql: "DELETE FROM storage WHERE instance = ? AND tag = ?")
    try statement.execute(arguments: [instance.uuid.description, tag])
  }

  /// Removes the present row of a key from the anchor.
  private func forget(_ tag: Data, _ keys: StorageKeys, in instance: inout OpenInstance) throws {
    let statement = try db.cachedStatement(
      sql: "SELECT \(StorageRow.columns) FROM storage WHERE instance = ? AND tag = ?")
    guard let found = try Row.fetchOne(statement, arguments: [instance.uuid.description, tag]) else { return }
    guard let row = StorageRow(found), row.bytes <= instance.anchor.storageBytes else {
      throw SDKError.instanceQuarantined(id, InstanceProblem.text("its storage"))
    }
    instance.anchor.storageBytes -= row.bytes
    keys.toggle(row, in: &instance.anchor, of: instance.uuid, storageEpoch: instance.storageEpoch)
  }

  private func write(_ row: StorageRow, _ name: Data, _ text: Data, in instance: OpenInstance) throws {
    let epoch = instance.storageEpoch
    let sealedName = try Seal.seal(
      name, under: instance.key.key, row.context("storage.name", of: instance.uuid, storageEpoch: epoch))
    let sealedValue = try Seal.seal(
      text, under: instance.key.key, row.context("storage.value", of: instance.uuid, storageEpoch: epoch))
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO storage (instance, \(StorageRow.columns), name, value) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (instance, tag) DO UPDATE SET revision = excluded.revision, key_bytes = excluded.key_bytes,
          value_bytes = excluded.value_bytes, name = excluded.name, value = excluded.value
        """)
    try statement.execute(arguments: [
      instance.uuid.description, row.tag, row.revision.stored, row.keyBytes.stored, row.valueBytes.stored, sealedName,
      sealedValue,
    ])
  }
}
