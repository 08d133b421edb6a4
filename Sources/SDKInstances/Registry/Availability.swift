import Concurrency
public import SDKProtocol
import Synchronization

/// The state that decides whether calls run: before the start, serving, or failed.
public final class Availability: Sendable {
  private struct Facts {
    var isServing = false
    var failure: SDKError?
  }

  private let state = Mutex(Facts())
  private let start = Promise<Void>()

  /// Creates the availability before the start: calls wait.
  public init() {}

  /// The error of every call that needs state; `nil` without one.
  public var failure: SDKError? { state.withLock { $0.failure } }

  /// Whether calls that need state are served.
  public var isServing: Bool { state.withLock { $0.isServing } }

  /// Lets calls run, because every instance is restored. Ends an earlier failure.
  public func serve() { begin(failure: nil) }

  /// Makes every call that needs state fail with an error.
  public func fail(_ error: SDKError) { begin(failure: error) }

  private func begin(failure: SDKError?) {
    state.withLock { $0 = Facts(isServing: failure == nil, failure: failure) }
    start.resolve(.success(()))
  }

  /// Waits for the first `serve` or `fail`.
  ///
  /// - Throws: `CancellationError`; `shuttingDown` if the drain begins first.
  public func waitForStart(unless drain: Drain) async throws {
    if start.result == nil { try await drain.repeatable { [start] in try await start.value() } }
  }
}
