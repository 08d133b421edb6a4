import Logging
import SDKInstances
import SDKProtocol
import StateStore

/// The state as it could be opened.
struct OpenedState {
  /// Where changes become durable.
  let store: any StateStore
  /// The store's own service; `nil` when the state can't be used.
  let database: SQLiteStateStore?
  /// Why the state can't be used.
  let failure: SDKError?

  /// Opens the state; what is wrong with it is answered to callers, and the daemon starts all the same.
  ///
  /// - Throws: when another daemon has it.
  static func open(
    _ paths: DaemonPaths, _ configuration: Configuration, _ logger: Logger, observer: @escaping TransactionObserver
  ) async throws(StoreOpenError) -> OpenedState {
    Directories.make(Directories.parent(of: paths.state), mode: paths.isUserDaemon ? 0o700 : 0o755)
    do throws(StoreOpenError) {
      let database = try await SQLiteStateStore.open(
        directory: paths.state, retention: configuration.retention, logger: logger, observer: observer)
      return OpenedState(store: database, database: database, failure: nil)
    } catch {
      if case .stateInUse = error { throw error }
      let failure = error.sdkError
      logger.critical("The state in \(paths.state) can't be used: \(failure.message)")
      return OpenedState(store: UnavailableStateStore(failure), database: nil, failure: failure)
    }
  }
}
