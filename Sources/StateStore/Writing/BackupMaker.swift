import Glibc
import JSONRPC
import Linux
import SDKProtocol
import SQLite

/// The creation of backups. It runs only on the writer's queue, so that no change is made meanwhile.
struct BackupMaker {
  let folder: BackupFolder
  let database: DatabaseHolder
  let tuning: StoreTuning
  /// The destroyed keys that earlier backups may still have. A state restored from this backup removes them from these.
  let pending: [Removal]

  /// Makes a backup with this name, or with a generated name for `nil`. Then deletes the oldest backups with generated
  /// names beyond `keep`; the newest one always stays.
  ///
  /// - Throws: `RPCError` `invalidParams` for an invalid or taken name; any error of the disk or the database.
  func make(_ name: String?, keep: Int, at time: Timestamp) throws -> StateBackup {
    if let name, let mistake = StateBackup.mistake(inName: name) {
      throw RPCError.invalidParams(mistake, member: "name")
    }
    if let name, folder.backup(named: name) != nil {
      throw RPCError.invalidParams("There is a backup \(name) already; choose another name.", member: "name")
    }
    try folder.prepare()
    let name = name ?? freeName(at: time)
    do {
      try write(at: time)
      try folder.finish(name, at: time)
    } catch {
      folder.removePartial()
      throw error
    }
    try removeSurplus(keep: keep, besides: name, at: time)
    guard let backup = folder.backup(named: name) else {
      throw StoreOpenError.unwritable("\(folder.file(name)) is gone")
    }
    return backup
  }

  private func write(at time: Timestamp) throws {
    // SQLite would create its file readable by all users, but keeps the mode of an existing empty file.
    _ = try OwnedDescriptor(opening: folder.partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try tuning.at(.copying, nil)
    try database.use { db in try db.execute(sql: "VACUUM INTO ?", arguments: [folder.partial]) }
    let copy = try StoreConnection.copy(at: folder.partial)
    defer { try? copy.close() }
    try copy.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try MetaTable.setCopied(time, db)
        try RemovalTable.keep(pending, db)
        return .commit
      }
    }
    try tuning.at(.copied, nil)
  }

  private func freeName(at time: Timestamp) -> String {
    let name = StateBackup.ownName(at: time)
    var number = 2
    var free = name
    while folder.backup(named: free) != nil {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }

  /// Deletes the oldest backups with generated names beyond `keep`, except `made`.
  private func removeSurplus(keep: Int, besides made: String, at time: Timestamp) throws(StoreOpenError) {
    let own = try folder.backups(at: time).filter(\.isOwn)
    for backup in own.dropFirst(max(1, keep)) where backup.name != made { try folder.remove(backup) }
  }
}
