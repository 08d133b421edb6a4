internal import Concurrency
internal import Synchronization

/// A connection attempt that concurrent callers share: one of them connects, and all get its connection.
final class SharedOpening: Sendable {
  private let pending = Mutex<Promise<any SDKConnection>?>(nil)

  /// Runs `open`, or waits for an attempt already in progress and returns its connection.
  ///
  /// - Throws: what `open` throws, or `CancellationError`.
  func run(_ open: () async throws -> any SDKConnection) async throws -> any SDKConnection {
    while true {
      try Task.checkCancellation()
      let (promise, isMine) = pending.withLock { pending in
        if let pending { return (pending, false) }
        let promise = Promise<any SDKConnection>()
        pending = promise
        return (promise, true)
      }
      guard isMine else {
        do { return try await promise.value() } catch is CancellationError {
          // The other attempt was cancelled, so try here; or this task was, so throw at the next check.
          continue
        }
      }
      let outcome: Result<any SDKConnection, any Error>
      do { outcome = .success(try await open()) } catch { outcome = .failure(error) }
      pending.withLock { $0 = nil }
      promise.resolve(outcome)
      return try outcome.get()
    }
  }
}
