import Logging
import SDKInstances
import SDKKinds
import SDKProtocol
import StateStore
import Systemd

/// The state as it could be opened.
struct OpenedState {
  /// Where changes become durable.
  let store: any StateStore
  /// The store's own service; `nil` when the state can't be used.
  let database: SQLiteStateStore?
  /// Why the state can't be used.
  let failure: SDKError?
  /// Keeps others from a state that can't be used.
  let hold: StateHold?
  /// Whether it failed because the directory can't be written: once it can, the daemon goes on by itself.
  var heals = false

  /// Opens the state; what is wrong with it is answered to callers, and the daemon starts all the same.
  ///
  /// - Throws: when another daemon has it.
  static func open(
    _ paths: DaemonPaths, _ configuration: Configuration, _ logger: Logger, observer: @escaping TransactionObserver
  ) async throws(StoreOpenError) -> OpenedState {
    Directories.make(Directories.parent(of: paths.state), mode: paths.isUserDaemon ? 0o700 : 0o755)
    do throws(StoreOpenError) {
      let database = try await SQLiteStateStore.open(
        directory: paths.state, rootKey: rootKey(), retention: configuration.retention, logger: logger,
        withhold: withhold, observer: observer)
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

  /// A directory that can't even be held is nobody's.
  private static func hold(_ state: String) throws(StoreOpenError) -> StateHold? {
    do throws(StoreOpenError) { return try StateHold(directory: state) } catch {
      if case .stateInUse = error { throw error }
      return nil
    }
  }

  /// The credentials that the service manager passed, else the file in the directory of the state.
  private static func rootKey() throws(StoreOpenError) -> RootKeySource {
    let current = try credential("sdkd.key")
    let next = try credential("sdkd.key.next")
    return current == nil && next == nil ? .file : .credential(current, next: next)
  }

  private static func credential(_ name: String) throws(StoreOpenError) -> RootKey? {
    let bytes: [UInt8]?
    do { bytes = try Credentials.read(name: name, limit: RootKey.byteCount + 1) } catch {
      throw .keyMissing("The credential \(name) can't be used: \(error). Nothing was changed.")
    }
    guard let bytes else { return nil }
    guard let key = RootKey(bytes: bytes) else {
      throw .keyMissing(
        "The credential \(name) does not have \(RootKey.byteCount) bytes; make one with sdkctl key init. Nothing was "
          + "changed.")
    }
    return key
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
        The database was damaged (\(repair.damage)). It is set aside as \(repair.setAside), and the copy \
        \(repair.copy.name) of \(repair.copy.createdAt) is in its place: what was changed since is lost. Look at it, \
        then delete the file that was set aside.
        """, metadata: ["messageID": "\(JournalMessage.stateRepaired.id)"])
    } else if let time = meta.copiedAt {
      logger.warning("The state is a copy of \(time) that was restored: what was changed since is lost.")
    }
    if let notice = meta.notice {
      logger.critical("\(notice.text)", metadata: ["messageID": "\(JournalMessage.stateNoticed.id)"])
    }
    if meta.rootKey == .nextCredential {
      logger.notice("The state lies under sdkd.key.next now: make it sdkd.key with sdkctl key rotate --finish.")
    }
  }

  /// The store's own service.
  ///
  /// - Throws: why the state can't be used.
  var usable: SQLiteStateStore {
    get throws(SDKError) {
      if let database { return database }
      throw failure ?? SDKError(.store, .storeUnavailable, "There is no state; look at the journal.")
    }
  }

  /// What an operator has to know of the state besides.
  var note: String? {
    guard let repair = store.meta.repair else { return store.meta.notice?.text }
    return "the database was damaged, copy \(repair.copy.name) of \(repair.copy.createdAt) restored"
  }
}
