public import SDKProtocol

/// Backups and keys of a state in use.
extension SQLiteStateStore {
  /// Makes a backup in `backups/`. It is consistent and contains no key that was destroyed.
  ///
  /// - Parameters:
  ///   - name: The name of the backup; `nil` for a generated name.
  ///   - keep: The number of backups with generated names to keep, at least 1. The oldest beyond it are deleted.
  /// - Throws: `RPCError` `invalidParams` for an invalid or taken name; `SDKError` `storeUnavailable`.
  public func backUp(name: String? = nil, keep: Int) async throws -> StateBackup {
    try await writer.between { $0.backUp(name, keep: keep) }.get()
  }

  /// All backups, newest first and those dated in the future last; empty if the folder can't be read.
  public var backups: [StateBackup] { (try? BackupFolder(in: directory).backups(at: clock())) ?? [] }

  /// The backups that may still hold destroyed keys, because they can't be changed. The store repeats the removal.
  public var unfinishedBackups: [UnfinishedBackup] { status.unfinishedBackups }

  /// Replaces the master key and rewraps every data key under the new one, in the backups too.
  ///
  /// - Returns: the number of rewrapped data keys of instances and outbox entries.
  /// - Throws: `storeUnavailable`. The state still opens. The new key may already be in force if only the log or a
  ///   backup could not be updated.
  public func rotateKey() async throws(SDKError) -> Int {
    try await writer.between { $0.rotateKey() }.get()
  }

  /// The notices from this opening and earlier ones that the operator has not deleted yet.
  public var notices: [StateNotice] { StateNotice.all(in: directory.path) }

  /// The names of the files in the state directory that hold replaced databases. They may hold keys that were destroyed
  /// since.
  public var setAside: [String] { StateReplacement.asides(in: directory.path) }
}
