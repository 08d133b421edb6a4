import Concurrency
import SDKInstances
import SDKProtocol
import Synchronization

/// Where calls ask for a reload. What was asked for runs to its end, whatever becomes of the caller.
final class ReloadEntrance: Sendable {
  private let reloader = Mutex<Reloader?>(nil)
  private let operations: Operations

  init(operations: Operations) { self.operations = operations }

  func serve(_ reloader: Reloader) { self.reloader.withLock { $0 = reloader } }

  /// Reads the configuration and puts it in force.
  func reload() async throws -> DaemonReload.Result {
    guard let reloader = reloader.withLock({ $0 }) else { throw CancellationError() }
    let outcome = Promise<DaemonReload.Result>()
    operations.start {
      do { outcome.resolve(.success(try await reloader.reload())) } catch { outcome.resolve(.failure(error)) }
    }
    return try await outcome.valueIgnoringCancellation()
  }
}
