import Doubles
import Logging
import SDKProtocol
import Testing

@testable import StateStore

/// The stores that must behave alike.
enum StoreUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case memory, disk

  var testDescription: String { rawValue }

  /// Runs `body` with an empty store.
  func with(
    clock: TestClock = TestClock(), retention: EventRetention = EventRetention(),
    _ body: (any TestableStore) async throws -> Void
  ) async throws {
    switch self {
    case .memory: try await body(InMemoryStateStore(clock: { clock.now }, retention: retention))
    case .disk:
      let directory = try TemporaryDirectory()
      let store = try await open(directory, clock: clock, retention: retention)
      try await body(store)
      await store.close()
    }
  }
}

/// A store with the operations that tests need beyond `StateStore`.
protocol TestableStore: StateStore {
  func applyRetention() async
}

extension InMemoryStateStore: TestableStore {}
extension SQLiteStateStore: TestableStore {}

/// Opens a store on disk that retries without a pause after a failure.
func open(
  _ directory: TemporaryDirectory, rootKey: RootKeySource = .file, clock: TestClock = TestClock(),
  retention: EventRetention = EventRetention(), tuning: StoreTuning = StoreTuning(),
  withhold: @escaping Withholding = { _, _ in nil }
) async throws(StoreOpenError) -> SQLiteStateStore {
  var tuning = tuning
  tuning.firstPause = .zero
  return try await SQLiteStateStore.open(
    directory: directory.state, rootKey: rootKey, clock: { clock.now }, retention: { retention },
    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, tuning: tuning,
    withhold: withhold)
}
