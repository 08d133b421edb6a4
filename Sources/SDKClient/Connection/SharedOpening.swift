internal import Concurrency
internal import Synchronization

/// One connects, and all who want a connection meanwhile get the same.
final class SharedOpening: Sendable {
  private let pending = Mutex<Promise<any SDKConnection>?>(nil)

  /// Runs `open`, unless somebody else does so already: then their outcome is this one too.
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
          // They gave up, or we did.
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
