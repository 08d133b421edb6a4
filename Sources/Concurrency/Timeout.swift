/// The error of work that did not end within its time limit.
public struct TimeoutError: Error {
  /// Creates the error.
  public init() {}
}

/// Runs work and cancels it when `limit` has passed. Always waits until the work has ended.
///
/// - Throws: `TimeoutError` if the limit passed first; otherwise the error of the work.
public func withTimeout<Value: Sendable>(
  _ limit: Duration, _ work: @escaping @Sendable @concurrent () async throws -> Value
) async throws -> Value {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    defer { group.cancelAll() }
    group.addTask { try await work() }
    group.addTask {
      // Cancelled together with the work, which says itself what that means.
      do { try await Task.sleep(for: limit, clock: .continuous) } catch { return nil }
      throw TimeoutError()
    }
    while let outcome = try await group.next() {
      if let outcome { return outcome }
    }
    throw CancellationError()
  }
}
