import Crypto
import GRDB

/// Everything between a directory and an open state; run on a thread that may block.
struct StateOpening {
  let directory: StateDirectory
  let connection: DatabaseQueue
  let vault: Vault
  let meta: StoreMeta

  init(directory path: String, rootKey source: RootKeySource) throws(StoreOpenError) {
    directory = try StateDirectory(path)
    let isNew = try !directory.hasDatabase()
    let root =
      switch source {
      case .key(let key): key
      case .file: try RootKeyFile.key(in: directory, isNewState: isNew)
      }
    try directory.prepareDatabaseFile()
    do {
      let opened = try StoreConnection.writer(at: directory.database)
      connection = opened
      let state = try opened.writeWithoutTransaction { db in try Self.unlock(db, root: root) }
      vault = try Vault(master: state.master, stateID: state.stateID)
      meta = StoreMeta(stateID: state.stateID, restartCount: state.restarts)
    } catch let error as StoreOpenError {
      throw error
    } catch {
      throw StoreFailure.isDamage(error)
        ? .corrupt(StoreFailure.text(error)) : .unwritable("\(path): \(StoreFailure.text(error))")
    }
  }

  private static func unlock(
    _ db: Database, root: RootKey
  ) throws -> (master: SymmetricKey, stateID: String, restarts: Int) {
    let version = try StoreSchema.version(of: db)
    try StoreSchema.check(db)
    // With the wrong key nothing is written, not even a migration.
    let known = version > 0 ? try MetaTable.unlock(db, root: root) : nil
    try StoreSchema.migrate(db, from: version)
    var state: (master: SymmetricKey, stateID: String)?
    var restarts = 0
    try db.inTransaction(.immediate) {
      state = try known ?? MetaTable.initialize(db, root: root)
      restarts = try MetaTable.countOpening(db)
      return .commit
    }
    guard let state else { throw StoreOpenError.corrupt("no master key") }
    // What a wipe before a crash left in the log; if it does not work now, the writer tries again.
    _ = try? db.checkpoint(.truncate)
    return (state.master, state.stateID, restarts)
  }
}
