import Cryptography
import JSONRPC
import SDKProtocol
import SQLite

/// The writer's work on backups and keys, which runs between two transactions.
extension WriterSession {
  /// Makes a backup of the state.
  func backUp(_ name: String?, keep: Int) -> Result<StateBackup, any Error> {
    do {
      // A backup that can't be changed now does not prevent another one.
      _ = try settleRemovals()
      let maker = BackupMaker(folder: folder, database: database, tuning: tuning, pending: openRemovals)
      return .success(try maker.make(name, keep: keep, at: clock()))
    } catch let error as any RPCErrorConvertible {
      return .failure(error)
    } catch {
      return .failure(refusal(ofCopy: error))
    }
  }

  private func refusal(ofCopy error: any Error) -> SDKError {
    if StoreFailure.isDamage(error) { _ = failed(error) }
    if let error = error as? DatabaseError, error.resultCode == .full {
      return .storeUnavailable("The disk is full and no backup was made; free some space and try again.")
    }
    return .storeUnavailable("No backup could be made (\(StoreFailure.text(error))); look at the disk.")
  }

  /// Replaces the master key and rewraps every data key under the new one. Returns the number of rewrapped keys of
  /// instances and outbox entries.
  ///
  /// After a crash at any moment, the state opens either with all old keys or with all new ones.
  func rotateKey() -> Result<Int, SDKError> {
    if let refusal = recovery.refusal { return .failure(refusal) }
    let count: Int
    let master = SymmetricKey()
    let next: WrappingKey
    do {
      // Pending removals of keys from the backups need the keys that the backups have now.
      let open = try settleRemovals()
      guard open.isEmpty else {
        return .failure(
          .storeUnavailable(
            "Backups can't be changed now (\(Self.words(for: open))), so the key stays; look at them and try again."))
      }
      next = try WrappingKey(master: master)
      vault.expect(next)
      var events: [Keyring.EventKey] = []
      count = try database.use { db in
        try tuning.at(.rotating, db)
        var count = 0
        try db.inTransaction(.immediate) {
          (count, events) = try rotate(to: master, next, db)
          try tuning.at(.committing, db)
          return .commit
        }
        return count
      }
      try vault.adopt(next, events: events)
    } catch {
      vault.expect(nil)
      return .failure(failed(error))
    }
    isLogToBeEmptied = true
    let unfinished = emptyOldLog()
    // No read has a former key any more: a log is emptied without readers, and a failure opens the connections again.
    // With the former key, a backup that stays under it would open, and get keys under the new one.
    vault.expect(nil)
    try? tuning.at(.rotated, nil)
    let left = BackupEditor(folder: folder).adopt(master: master, wrapping: next, roots: [vault.root])
    if unfinished == nil { succeeded() }
    var problems = unfinished.map { [$0.message] } ?? []
    if !left.isEmpty {
      problems.append(
        "The new key is in force, but backups still lie under the former one (\(Self.words(for: left))); remove them or "
          + "try again.")
    }
    return problems.isEmpty ? .success(count) : .failure(.storeUnavailable(problems.joined(separator: " ")))
  }

  private static func words(for backups: [UnfinishedBackup]) -> String {
    backups.map { "\($0.name): \($0.problem)" }.joined(separator: "; ")
  }

  private func rotate(
    to master: SymmetricKey, _ next: WrappingKey, _ db: Database
  ) throws -> (count: Int, events: [Keyring.EventKey]) {
    guard let (stateID, _) = try MetaTable.wrapped(db) else { throw StoreOpenError.corrupt("no master key") }
    let count = try KeyTable.rewrap(from: vault.wrapping, to: next, db)
    try StateKeyTable.beginEventKey(next, db)
    try MetaTable.write(master, under: vault.root, stateID: stateID, db)
    return (count, try StateKeyTable.load(db, next)?.events ?? [])
  }
}
