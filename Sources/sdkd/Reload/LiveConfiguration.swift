import Concurrency
import SDKInstances
import SDKProtocol
import Synchronization

/// The configuration in force, for parts that read it whenever they need it.
final class LiveConfiguration: Sendable {
  private let state: Mutex<Configuration>

  init(_ configuration: Configuration) { state = Mutex(configuration) }

  /// The configuration that is now in force.
  var current: Configuration { state.withLock { $0 } }

  /// Replaces the configuration.
  func use(_ configuration: Configuration) { state.withLock { $0 = configuration } }
}

/// The entry point of calls that request a reload. A reload runs to its end even if its caller is gone.
final class ReloadEntrance: Sendable {
  private let reloader = Mutex<Reloader?>(nil)
  private let operations: Operations

  init(operations: Operations) { self.operations = operations }

  func serve(_ reloader: Reloader) { self.reloader.withLock { $0 = reloader } }

  /// Reads the configuration and applies it.
  func reload() async throws -> DaemonReload.Result {
    guard let reloader = reloader.withLock({ $0 }) else { throw CancellationError() }
    let outcome = Promise<DaemonReload.Result>()
    operations.start {
      do { outcome.resolve(.success(try await reloader.reload())) } catch { outcome.resolve(.failure(error)) }
    }
    return try await outcome.valueIgnoringCancellation()
  }
}
