public import SDKProtocol

/// Copies and keys of a state in use.
extension SQLiteStateStore {
  /// Makes a copy in `backups/`: consistent, and without any key that was destroyed.
  ///
  /// - Parameters:
  ///   - name: `nil` for one of the store's own names.
  ///   - keep: How many of the store's own copies there may be; the oldest are removed.
  /// - Throws: `RPCError` `invalidParams` for the name, `SDKError` `storeUnavailable`.
  public func backUp(name: String? = nil, keep: Int) async throws -> StateBackup {
    try await writer.between { $0.backUp(name, keep: keep) }.get()
  }

  /// All copies, the newest first.
  public var backups: [StateBackup] { (try? BackupFolder(in: directory).copies()) ?? [] }

  /// Replaces the master key and wraps every data key under the new one, in the copies too.
  ///
  /// - Returns: how many data keys of instances and outbox entries were wrapped anew.
  /// - Throws: `storeUnavailable`; everything opens as before then, unless it says otherwise.
  public func rotateKey() async throws(SDKError) -> Int {
    try await writer.between { $0.rotateKey() }.get()
  }

  /// What was noticed when the state was opened, now or earlier, and nobody has looked at yet.
  public var notices: [StateNotice] { StateNotice.all(in: directory.path) }

  /// Files in the directory of the state that former databases were set aside as. They may hold keys that were
  /// destroyed since.
  public var setAside: [String] { StateReplacement.asides(in: directory.path) }
}
