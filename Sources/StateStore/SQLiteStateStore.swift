import Dispatch
public import Logging
public import SDKProtocol
import SQLite

/// The store on disk: a sealed SQLite database in a directory that only this store holds.
///
/// A row that was moved, changed or rolled back quarantines its instance and no other; `Anchor` describes what is
/// detected. Names of instances, epochs, sizes and times are stored in clear; everything else is sealed.
public final class SQLiteStateStore: StateStore {
  public let cursors: CursorCoder
  public let identityDigests: IdentityDigests
  public let meta: StoreMeta

  let directory: StateDirectory
  let clock: @Sendable () -> Timestamp
  let vault: Vault
  let status = StoreStatus()
  private let reader = StoreReader()
  let storage: StorageReader
  private let failedWipes: FailedWipeFile
  private let notes = DispatchQueue(label: "sdkd.store.notes")
  let writer: StoreWriter
  private let logger: Logger

  /// Opens a state, or creates one in a directory that has none.
  ///
  /// Other users get no access to the directory and its files. Reads and writes work at once, whether or not `run` was
  /// called. On a full disk an existing state is opened too: reads work, and changes fail until there is room.
  ///
  /// - Parameters:
  ///   - directory: The path of the state directory. It is created with mode 0700 if it is missing.
  ///   - rootKey: The source of the root key: `root.key` in the directory, or a credential.
  ///   - clock: The clock for the times of events.
  ///   - retention: Returns the limits on the events that are kept. Excess events are removed by the next sweep at the
  ///     latest.
  ///   - withhold: The function that removes from a restored backup what must not be used again.
  ///   - observer: The function that is called after every transaction with changes.
  public static func open(
    directory: String, rootKey: RootKeySource = .file, clock: @escaping @Sendable () -> Timestamp = { .now },
    retention: @escaping @Sendable () -> EventRetention = { EventRetention() }, logger: Logger,
    withhold: @escaping Withholding = { _, _ in nil }, observer: @escaping TransactionObserver = { _ in }
  ) async throws(StoreOpenError) -> SQLiteStateStore {
    try await open(
      directory: directory, rootKey: rootKey, clock: clock, retention: retention, logger: logger,
      tuning: StoreTuning(), withhold: withhold, observer: observer)
  }

  static func open(
    directory: String, rootKey: RootKeySource = .file, clock: @escaping @Sendable () -> Timestamp = { .now },
    retention: @escaping @Sendable () -> EventRetention = { EventRetention() }, logger: Logger, tuning: StoreTuning,
    withhold: @escaping Withholding = { _, _ in nil }, observer: @escaping TransactionObserver = { _ in }
  ) async throws(StoreOpenError) -> SQLiteStateStore {
    let result: Result<SQLiteStateStore, StoreOpenError> = await withCheckedContinuation { continuation in
      DispatchQueue(label: "sdkd.store.opening").async {
        continuation.resume(
          returning: Result { () throws(StoreOpenError) in
            try SQLiteStateStore(
              StateOpening(directory: directory, rootKey: rootKey, withhold: withhold, at: clock()), clock: clock,
              retention: retention, logger: logger, tuning: tuning, observer: observer)
          })
      }
    }
    return try result.get()
  }

  private init(
    _ opened: StateOpening, clock: @escaping @Sendable () -> Timestamp,
    retention: @escaping @Sendable () -> EventRetention, logger: Logger, tuning: StoreTuning,
    observer: @escaping TransactionObserver
  ) throws(StoreOpenError) {
    directory = opened.directory
    self.clock = clock
    vault = opened.vault
    meta = opened.meta
    cursors = opened.vault.cursors
    storage = StorageReader(vault: opened.vault, limit: tuning.comparedLimit)
    identityDigests = opened.vault.identityDigests
    self.logger = logger
    do {
      if opened.readOnlyCause == nil {
        try reader.open(at: opened.directory.database)
      } else {
        reader.use(opened.connection)
      }
    } catch {
      throw .unwritable("\(opened.directory.path): \(StoreFailure.text(error))")
    }
    let count = try? opened.connection.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM instance") }
    failedWipes = FailedWipeFile(in: opened.directory, instances: (count ?? nil) ?? 0)
    let database = DatabaseHolder(
      directory: opened.directory, connection: opened.readOnlyCause == nil ? opened.connection : nil, reader: reader,
      tuning: tuning, openAgain: opened.readOnlyCause == nil ? nil : opened.openAgain)
    writer = StoreWriter(
      session: WriterSession(
        database: database, vault: opened.vault, folder: BackupFolder(in: opened.directory), status: status,
        generation: GenerationRecord(in: opened.directory), stateID: opened.meta.stateID, clock: clock,
        retention: retention, tuning: tuning, logger: logger, failure: opened.readOnlyCause),
      queueLimit: tuning.queueLimit,
      observer: observer)
    writer.beginSweeps()
    writer.beginRemovals()
    for problem in opened.problems { logger.error("\(problem)") }
    if let warning = SwapWarning.text(lockError: opened.vault.lockError) { logger.warning("\(warning)") }
  }

  /// Returns once `stop` was called or the task was cancelled, and every accepted change is completed.
  public func run() async {
    await withTaskCancellationHandler {
      await writer.finished()
    } onCancel: {
      writer.stop()
    }
  }

  /// Stops accepting changes. Accepted changes are still written and acknowledged.
  public func stop() { writer.stop() }

  /// Stops the store, waits until every accepted change is completed, and unlocks the directory.
  public func close() async {
    writer.stop()
    await writer.finished()
    await writer.between { $0.close() }
    directory.unlock()
  }

  public func load() async throws(SDKError) -> StoredState {
    let vault = vault
    let loaded = try await reader.read { db in try StateLoader.load(db, vault: vault) }
    let (unreadable, damaged) = (loaded.unreadable, loaded.damaged)
    var state = loaded.state
    await take(failedWipes.noted, into: &state)
    if damaged > 0 {
      logger.error("\(damaged) deleted instances have a last event that does not open: only admins see their events.")
    }
    for (uuid, count) in unreadable {
      let name = state.instances.first { $0.uuid == uuid }?.id.name ?? uuid.description
      logger.error("\(count) outbox entries of instance \(name) do not open and are dropped.")
    }
    for instance in state.quarantined {
      logger.error("Instance \(instance.id) is quarantined: \(instance.problem)")
    }
    return state
  }

  /// Adds the noted wipes to their instances, and deletes the notes that are obsolete or of instances that are not there
  /// any more. The others get the present storage epochs.
  private func take(_ noted: [InstanceUUID: [FailedWipe]], into state: inout StoredState) async {
    guard !noted.isEmpty else { return }
    for index in state.instances.indices {
      guard let found = noted[state.instances[index].uuid] else { continue }
      state.instances[index].take(found)
      let instance = state.instances[index]
      let pending = instance.failedWipes.map { ($0, instance.storageEpoch) }
      try? await note(failedWipes: Dictionary(pending) { first, _ in first }, of: instance.uuid)
    }
    let known = Set(state.instances.map(\.uuid) + state.quarantined.map(\.uuid))
    for uuid in noted.keys where !known.contains(uuid) { try? await note(failedWipes: [:], of: uuid) }
  }

  public func note(failedWipes: [String: UInt64], of instance: InstanceUUID) async throws(SDKError) {
    let result: Result<Void, StoreOpenError> = await withCheckedContinuation { continuation in
      notes.async { [file = self.failedWipes] in
        continuation.resume(
          returning: Result { () throws(StoreOpenError) in try file.set(failedWipes, of: instance) })
      }
    }
    do { try result.get() } catch { throw .storeUnavailable("The lock can't be noted: \(StoreFailure.text(error)).") }
  }

  public func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    try await writer.commit(change).get()
  }

  public func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    let storage = storage
    return try await reader.read { db in try storage.value(of: instance, key: key, db) }
  }

  public func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] {
    let storage = storage
    return try await reader.read { db in try storage.keys(of: instance, db) }
  }

  public func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    let storage = storage
    return try await reader.read { db in try storage.page(of: instance, after: key, limit: limit, db) }
  }

  public func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] {
    let vault = vault
    let read = try await reader.read { db in
      EventRow.open(try EventLog.events(after: position, limit: limit, db), vault: vault)
    }
    report(damaged: read.damaged.count)
    return read.events
  }

  public func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage {
    let vault = vault
    let (page, damaged) = try await reader.read { db in
      let found = try EventSearch.next(after: position, limit: limit, of: instances, db)
      let (events, damaged) = EventRow.open(found.rows, vault: vault)
      let lost = try EventLog.lost(after: position, db)
      var page = EventPage(
        events: events, reached: found.reached, newest: try EventLog.newest(db), lost: lost.positions,
        lossNumbers: lost.numbers)
      // A damaged row does not tell for certain which instance its event was of.
      if let last = damaged.max() {
        page.damaged = last
        page.lost[.anyDeleted] = max(page.lost[.anyDeleted] ?? 0, last)
      }
      return (page, damaged)
    }
    report(damaged: damaged.count)
    return page
  }

  private func report(damaged: Int) {
    if damaged > 0 { logger.error("\(damaged) stored events do not open and are left out.") }
  }

  public var health: StoreHealth { status.health }

  /// The number of changes that wait for the next transaction.
  public var waitingCount: Int { writer.waitingCount }

  /// Calls `body` on the writer's queue between two transactions. The watchdog uses it as a health probe.
  public func answer(_ body: @escaping @Sendable () -> Void) { writer.answer(body) }

  /// The time since the writer began work other than a transaction, such as a backup; `nil` without such work.
  public var longWork: Duration? { writer.longWork }

  /// Removes the events beyond retention now. Sweeps also do this at intervals.
  func applyRetention() async {
    await writer.between { session in while session.sweepPiece() {} }
  }
}
