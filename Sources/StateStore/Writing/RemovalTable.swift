import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A key that was destroyed here and has to be destroyed in the copies too.
struct Removal {
  let uuid: InstanceUUID
  /// The tag of the outbox entry whose key it was; `nil` for the instance's own.
  let tag: Data?
  /// The instance is still there: it was wiped.
  let isWipe: Bool
}

/// The keys that were destroyed since the last copy was made; noted with the change that destroys them, so that after a
/// crash the copies are put right.
enum RemovalTable {
  /// Notes what a change has destroyed.
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
