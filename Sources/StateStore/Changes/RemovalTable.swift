import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// Whether the instance still exists, because it was wiped and not deleted.
  let isWipe: Bool

  var key: Key { Key(uuid: uuid, tag: tag) }
}

/// The destroyed keys that backups may still contain. They are noted by the change that destroys them, so that the
/// backups are also updated after a crash.
enum RemovalTable {
  /// Notes the keys that a change destroys, and returns them.
  static func note(_ change: InstanceChange, _ vault: Vault, _ db: Database) throws -> [Removal] {
    let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO removal (instance, tag) VALUES (?, ?)")
    var removals: [Removal] = []
    var isDeleted = false
    for part in change.parts {
      switch part {
      case .wipe: removals.append(Removal(uuid: change.uuid, tag: nil, isWipe: true))
      case .delete: isDeleted = true
      case .deleteOutbox(let id):
        removals.append(Removal(uuid: change.uuid, tag: vault.outboxTag(of: id, in: change.uuid), isWipe: true))
      default: break
      }
    }
    if isDeleted { removals.append(Removal(uuid: change.uuid, tag: nil, isWipe: false)) }
    for removal in removals { try insert.execute(arguments: [removal.uuid.description, removal.tag ?? Data()]) }
    return removals
  }

  static func all(_ db: Database) throws -> [Removal] {
    let rows = try Row.fetchAll(
      db,
      sql: "SELECT instance, tag, EXISTS (SELECT 1 FROM instance i WHERE i.uuid = removal.instance) FROM removal")
    return rows.compactMap { row in
      guard let uuid = row.text(0), let tag = row.data(1) else { return nil }
      return Removal(uuid: InstanceUUID(uuid), tag: tag.isEmpty ? nil : tag, isWipe: row.integer(2) == 1)
    }
  }

  /// Deletes the notes of keys that the backups no longer have.
  static func remove(_ keys: [Removal.Key], _ db: Database) throws {
    let delete = try db.cachedStatement(sql: "DELETE FROM removal WHERE instance = ? AND tag = ?")
    for key in keys { try delete.execute(arguments: [key.uuid.description, key.tag ?? Data()]) }
  }

  static func clear(_ db: Database) throws { try db.execute(sql: "DELETE FROM removal") }
}
