import GRDB
import Glibc
import JSONRPC
import SDKProtocol

/// Makes copies of the state. Only the writer's queue calls this: no change is made meanwhile.
struct BackupMaker {
  let folder: BackupFolder
  let database: DatabaseHolder
  let tuning: StoreTuning

  /// Makes a copy under a name, or one of the store's own, and then removes own ones beyond `keep`.
  ///
  /// - Throws: `RPCError` for a name that can't be; whatever the disk or the database says.
  func make(_ name: String?, keep: Int, at time: Timestamp) throws -> StateBackup {
    if let name, let mistake = StateBackup.mistake(inName: name) {
      throw RPCError.invalidParams(mistake, member: "name")
    }
    if let name, folder.copy(name) != nil {
      throw RPCError.invalidParams("There is a copy \(name) already; choose another name.", member: "name")
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
    try removeSurplus(keep: keep)
    guard let copy = folder.copy(name) else { throw StoreOpenError.unwritable("\(folder.file(name)) is gone") }
    return copy
  }

  private func write(at time: Timestamp) throws {
    // SQLite makes its file for all to read, but takes an empty one as it is.
    _ = try FileDescriptor(opening: folder.partial, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    try tuning.at(.copying, nil)
    try database.use { db in
      // What is in the copies' keys already needs no noting: this copy has never had them.
      try RemovalTable.clear(db)
      try db.execute(sql: "VACUUM INTO ?", arguments: [folder.partial])
    }
    let copy = try StoreConnection.copy(at: folder.partial)
    defer { try? copy.close() }
    try copy.writeWithoutTransaction { db in
      try db.inTransaction(.immediate) {
        try MetaTable.setCopied(time, db)
        return .commit
      }
    }
    try tuning.at(.copied, nil)
  }

  private func freeName(at time: Timestamp) -> String {
    let name = StateBackup.ownName(at: time)
    var number = 2
    var free = name
    while folder.copy(free) != nil {
      free = "\(name)-\(number)"
      number += 1
    }
    return free
  }

  private func removeSurplus(keep: Int) throws(StoreOpenError) {
    for copy in try folder.copies().filter(\.isOwn).dropFirst(max(1, keep)) { try folder.remove(copy) }
  }
}
