import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore
import Systemd

/// The state after the attempt to open it.
struct OpenedState {
  /// The store in which changes become durable. It fails every operation when the state can't be used.
  let store: any StateStore
  /// The same store as a service; `nil` when the state can't be used.
  let database: SQLiteStateStore?
  /// The reason why the state can't be used; `nil` when it can.
  let failure: SDKError?
  /// The lock that keeps other daemons from a state that can't be used.
  let hold: StateHold?
  /// Whether opening failed because the directory is not writable. The daemon then restarts by itself once it is.
  var heals = false

  /// Opens the state. The daemon starts even when that fails, and returns the failure to callers.
  ///
  /// - Throws: `stateInUse` when another daemon holds the state.
  static func open(
    _ paths: DaemonPaths, _ live: LiveConfiguration, _ logger: Logger, observer: @escaping TransactionObserver
  ) async throws(StoreOpenError) -> OpenedState {
    Directories.make(Directories.parent(of: paths.state), mode: paths.isUserDaemon ? 0o700 : 0o755)
    do throws(StoreOpenError) {
      let database = try await SQLiteStateStore.open(
        directory: paths.state, rootKey: rootKey(logger), retention: { live.current.events.retention },
        logger: logger, withhold: withhold, observer: observer)
      report(database.meta, logger)
      return OpenedState(store: database, database: database, failure: nil, hold: nil)
    } catch {
      if case .stateInUse = error { throw error }
      let heals = if case .unwritable = error { !StateAccess.isWritable(paths.state) } else { false }
      let failure = heals ? error.healing : error.sdkError
      logger.critical("The state in \(paths.state) can't be used: \(failure.message)")
      return OpenedState(
        store: UnavailableStateStore(failure), database: nil, failure: failure, hold: try hold(paths.state),
        heals: heals)
    }
  }

  /// Returns the lock of the directory; `nil` if no daemon can lock it.
  private static func hold(_ state: String) throws(StoreOpenError) -> StateHold? {
    do throws(StoreOpenError) { return try StateHold(directory: state) } catch {
      if case .stateInUse = error { throw error }
      return nil
    }
  }

  /// Returns the source of the root key: the credentials that the service manager passed, else the file in the state
  /// directory. Of two credentials one may be unusable.
  ///
  /// - Throws: `keyMissing` when there are credentials and none can be used. A new key would not open the state.
  private static func rootKey(_ logger: Logger) throws(StoreOpenError) -> RootKeySource {
    let current = credential("sdkd.key")
    let next = credential("sdkd.key.next")
    switch (current, next) {
    case (.failure(let error), .success(nil)), (.success(nil), .failure(let error)), (.failure(let error), .failure):
      throw error
    case (.failure(let error), .success), (.success, .failure(let error)):
      logger.error("One credential of the root key is ignored; see sdkctl doctor. \(error.sdkError.message)")
    case (.success(nil), .success(nil)): return .file
    case (.success, .success): break
    }
    return .credential((try? current.get()) ?? nil, next: (try? next.get()) ?? nil)
  }

  private static func credential(_ name: String) -> Result<RootKey?, StoreOpenError> {
    let bytes: [UInt8]?
    do { bytes = try Credentials.read(name: name, limit: RootKey.byteCount + 1) } catch {
      return .failure(.keyMissing("The credential \(name) can't be used: \(error). Nothing was changed."))
    }
    guard let bytes else { return .success(nil) }
    if let key = RootKey(bytes: bytes) { return .success(key) }
    // sdkd-key@.service leaves a credential empty that it can't decrypt.
    let problem = bytes.isEmpty ? "can't be decrypted" : "does not have \(RootKey.byteCount) bytes"
    return .failure(
      .keyMissing(
        "The credential \(name) \(problem). Make it again from the recovery key and restart. Nothing was changed."))
  }

  private static let withhold: Withholding = { definition, identity in
    RestoredIdentity.withhold(definition: definition, identity: identity, at: .now) { definition in
      guard let kind = Kinds.all.first(where: { $0.name == definition.kind }) else {
        throw SDKError(.store, .instanceQuarantined, "There is no kind \(definition.kind).")
      }
      return try kind.makeAdapter(settings: definition.settings, services: .forChecking)
    }
  }

  private static func report(_ meta: StoreMeta, _ logger: Logger) {
    if let repair = meta.repair {
      logger.critical(
        """
        The database was damaged (\(repair.damage)). It is set aside as \(repair.setAside), and the backup \
        \(repair.backup.name) of \(repair.backup.createdAt) is in its place: what was changed since is lost. Look at it, \
        then delete the file that was set aside.
        """, metadata: ["messageID": "\(JournalMessage.stateRepaired.id)"])
      if repair.areRemovalsLost { logger.warning("\(StateRestoration.lostRemovals)") }
    } else if let time = meta.copiedAt {
      logger.warning("The state is a backup of \(time) that was restored: what was changed since is lost.")
    }
    for sentence in meta.losses.sentences { logger.warning("\(sentence)") }
    if let notice = meta.notice {
      logger.critical("\(notice.text)", metadata: ["messageID": "\(JournalMessage.stateNoticed.id)"])
    }
    if meta.rootKey == .nextCredential {
      logger.notice("The state lies under sdkd.key.next now: make it sdkd.key with sdkctl key rotate --finish.")
    }
  }

  /// The store, for operations on it.
  ///
  /// - Throws: the reason why the state can't be used.
  var usable: SQLiteStateStore {
    get throws(SDKError) {
      if let database { return database }
      throw failure ?? SDKError(.store, .storeUnavailable, "There is no state; look at the journal.")
    }
  }

  /// A notice about the state that the operator has not dealt with yet: a repair at the start, or another problem;
  /// `nil` for none.
  var note: String? {
    guard let database else { return nil }
    if let repair = database.meta.repair, database.setAside.contains(repair.setAside) {
      return "the database was damaged, backup \(repair.backup.name) of \(repair.backup.createdAt) restored"
    }
    return database.notices.first?.text
  }
}
