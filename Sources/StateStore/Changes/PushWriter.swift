import SDKProtocol
import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The writing of an instance's push registrations and their list. The instance's row must be written afterwards.
struct PushWriter {
  let db: Database
  let id: InstanceID

  func put(_ push: StoredPush, in instance: inout OpenInstance) throws {
    let row = PushRow(tag: PushRow.tag(of: push.id, instance.key), revision: instance.anchor.revision &+ 1)
    instance.pushes.removeAll { $0.tag == row.tag }
    guard instance.pushes.count < StoredPush.maximumCount else { throw SDKError.tooManyPushes(id) }
    instance.pushes.append(row)
    let (uuid, epoch, key) = (instance.uuid, instance.storageEpoch, instance.key.key)
    let name = try Seal.seal(
      Data(push.id.utf8), under: key, row.context("push.name", of: uuid, storageEpoch: epoch))
    let value = try Seal.seal(
      try StoredJSON.data(of: push.value), under: key, row.context("push.value", of: uuid, storageEpoch: epoch))
    let statement = try db.cachedStatement(
      sql: """
        INSERT INTO push (instance, \(PushRow.columns), name, value) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (instance, tag) DO UPDATE SET revision = excluded.revision, name = excluded.name,
          value = excluded.value
        """)
    try statement.execute(arguments: [uuid.description, row.tag, row.revision.stored, name, value])
  }

  func delete(_ push: String, in instance: inout OpenInstance) throws {
    let tag = PushRow.tag(of: push, instance.key)
    instance.pushes.removeAll { $0.tag == tag }
    let statement = try db.cachedStatement(sql: "DELETE FROM push WHERE instance = ? AND tag = ?")
    try statement.execute(arguments: [instance.uuid.description, tag])
  }

  /// Deletes all registrations and returns their number.
  func deleteAll(in instance: inout OpenInstance) throws -> Int {
    instance.pushes = []
    try db.cachedStatement(sql: "DELETE FROM push WHERE instance = ?").execute(arguments: [instance.uuid.description])
    return db.changesCount
  }
}
