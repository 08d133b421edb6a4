import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key that was destroyed in the state and must be destroyed in the backups too.
struct Removal {
  let uuid: InstanceUUID
  /// The tag of the outbox entry that had the key; `nil` for the instance's own key.
  let tag: Data?
  /// Whether the instance still exists, because it was wiped and not deleted.
  let isWipe: Bool
}

/// The destroyed keys that backups may still contain. They are noted by the change that destroys them, so that the
/// backups are also updated after a crash.
enum RemovalTable {
  /// Notes the keys that a change destroys.
  static func note(_ change: InstanceChange, _ vault: Vault, _ db: Database) throws {
    let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO removal (instance, tag) VALUES (?, ?)")
    for part in change.parts {
      switch part {
      case .wipe, .delete: try insert.execute(arguments: [change.uuid.description, Data()])
      case .deleteOutbox(let id):
        try insert.execute(arguments: [change.uuid.description, vault.outboxTag(of: id, in: change.uuid)])
      default: break
      }
    }
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

  static func clear(_ db: Database) throws { try db.execute(sql: "DELETE FROM removal") }
}
