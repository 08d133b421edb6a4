import FoundationEssentials
import SQLite

/// A key that was destroyed in the state and must be destroyed in the backups too.
struct Removal: Sendable {
  /// The identity of the key, as it is noted.
  struct Key: Hashable {
    let uuid: InstanceUUID
    let tag: Data
  }

  let uuid: InstanceUUID
  /// The tag of the outbox entry that had the key; `nil` for the instance's own key.
  let tag: Data?
  /// The storage epoch of the instance after its wipe; `nil` if the instance was deleted.
  let storageEpoch: UInt64?
  /// Whether the key was destroyed before the state was restored from a backup. Then only backups from before a wipe are
  /// concerned: a later one may have a key of the instance that was never destroyed.
  var isFormer = false

  /// For a former key, the storage epoch takes the place of the tag. The highest one stands for a deletion.
  var key: Key {
    Key(uuid: uuid, tag: isFormer ? Data((storageEpoch ?? .max).bigEndianBytes) : tag ?? Data())
  }

  /// The length of the tag in the note of a former key. Other tags are empty or longer.
  fileprivate static let formerBytes = 8

  /// The same removal in a state that is restored from a backup.
  fileprivate var former: Removal {
    guard tag == nil else { return self }
    return Removal(uuid: uuid, tag: nil, storageEpoch: storageEpoch, isFormer: true)
  }
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
    try insert(removals, db)
    return removals
  }

  private static func insert(_ removals: [Removal], _ db: Database) throws {
    let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO removal (instance, tag) VALUES (?, ?)")
    for key in removals.map(\.key) { try insert.execute(arguments: [key.uuid.description, key.tag]) }
  }

  static func all(_ db: Database) throws -> [Removal] {
    let rows = try Row.fetchAll(
      db,
      sql: """
        SELECT r.instance, r.tag, i.storage_epoch FROM removal r LEFT JOIN instance i ON i.uuid = r.instance
        """)
    return rows.compactMap { row in
      guard let uuid = row.text(0), let tag = row.data(1) else { return nil }
      if tag.count == Removal.formerBytes {
        let epoch = UInt64(bigEndianBytes: tag)
        return Removal(
          uuid: InstanceUUID(uuid), tag: nil, storageEpoch: epoch == .max ? nil : epoch, isFormer: true)
      }
      return Removal(uuid: InstanceUUID(uuid), tag: tag.isEmpty ? nil : tag, storageEpoch: row.unsigned(2))
    }
  }

  /// Deletes the notes of keys that the backups no longer have.
  static func remove(_ keys: [Removal.Key], _ db: Database) throws {
    let delete = try db.cachedStatement(sql: "DELETE FROM removal WHERE instance = ? AND tag = ?")
    for key in keys { try delete.execute(arguments: [key.uuid.description, key.tag]) }
  }

  /// Deletes all notes but these.
  static func keep(_ removals: [Removal], _ db: Database) throws {
    try db.execute(sql: "DELETE FROM removal")
    try insert(removals, db)
  }

  /// Adds the notes of a state that is about to be replaced to its replacement.
  static func carry(_ removals: [Removal], _ db: Database) throws { try insert(removals.map(\.former), db) }

  /// Restricts the notes of a backup that becomes the state to backups from before the wipes.
  ///
  /// - Returns: the storage epochs of the instances after these wipes. The restored state must have higher ones.
  static func restrict(_ db: Database) throws -> [InstanceUUID: UInt64] {
    let former = try all(db).map(\.former)
    try keep(former, db)
    let epochs = former.compactMap { removal in removal.storageEpoch.map { (removal.uuid, $0) } }
    return Dictionary(epochs, uniquingKeysWith: max)
  }
}
