/// The time for some work was over before it ended.
public struct TimeoutError: Error {
  /// The error.
  public init() {}
}

/// Runs work that is cancelled after a time. Returns when the work has ended, also then.
///
/// - Throws: `TimeoutError` when the time was over first; else what the work throws.
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
