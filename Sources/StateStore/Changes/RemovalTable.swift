import FoundationEssentials
import SQLite

/// A key that was destroyed in the state and must be destroyed in the backups too.
struct Removal: Sendable {
  /// The identity of the key.
  struct Key: Hashable {
    let uuid: InstanceUUID
    let tag: Data?
  }

  let uuid: InstanceUUID
  /// The tag of the outbox entry that had the key; `nil` for the instance's own key.
  let tag: Data?
  /// The storage epoch of the instance after its wipe; `nil` if the instance was deleted.
  let storageEpoch: UInt64?

  var key: Key { Key(uuid: uuid, tag: tag) }
}

/// The destroyed keys that backups may still contain. They are noted by the change that destroys them, so that the
/// backups are also updated after a crash.
enum RemovalTable {
  /// Notes the keys that a change destroys, and returns them.
  ///
  /// - Parameter storageEpoch: the instance's storage epoch after a wipe in the change.
  static func note(
    _ change: InstanceChange, storageEpoch: UInt64?, _ vault: Vault, _ db: Database
  ) throws -> [Removal] {
    let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO removal (instance, tag) VALUES (?, ?)")
    var removals: [Removal] = []
    var isDeleted = false
    for part in change.parts {
      switch part {
      case .wipe: removals.append(Removal(uuid: change.uuid, tag: nil, storageEpoch: storageEpoch))
      case .delete: isDeleted = true
      case .deleteOutbox(let id):
        let tag = vault.outboxTag(of: id, in: change.uuid)
        removals.append(Removal(uuid: change.uuid, tag: tag, storageEpoch: storageEpoch))
      default: break
      }
    }
    if isDeleted { removals.append(Removal(uuid: change.uuid, tag: nil, storageEpoch: nil)) }
    for removal in removals { try insert.execute(arguments: [removal.uuid.description, removal.tag ?? Data()]) }
    return removals
  }

  static func all(_ db: Database) throws -> [Removal] {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT r.instance, r.tag, i.storage_epoch FROM removal r LEFT JOIN instance i ON i.uuid = r.instance
        """)
    return rows.compactMap { row in
      guard let uuid = row.text(0), let tag = row.data(1) else { return nil }
      return Removal(uuid: InstanceUUID(uuid), tag: tag.isEmpty ? nil : tag, storageEpoch: row.unsigned(2))
    }
  }

  /// Deletes the notes of keys that the backups no longer have.
  static func remove(_ keys: [Removal.Key], _ db: Database) throws {
    let delete = try db.cachedStatement(sql: "DELETE FROM removal WHERE instance = ? AND tag = ?")
    for key in keys { try delete.execute(arguments: [key.uuid.description, key.tag ?? Data()]) }
  }

  static func clear(_ db: Database) throws { try db.execute(sql: "DELETE FROM removal") }
}
