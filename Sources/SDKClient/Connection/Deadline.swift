/// Ends waits that take too long.
enum Deadline {
  /// What `work` gives; it is cancelled at the deadline.
  ///
  /// - Throws: what `work` throws, or `SDKClientError.timeout`.
  static func within<Value: Sendable>(
    _ deadline: ContinuousClock.Instant?, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let deadline else { return try await work() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
      defer { group.cancelAll() }
      group.addTask { try await work() }
      group.addTask {
        try await Task.sleep(until: deadline, clock: .continuous)
        throw SDKClientError.timeout
      }
      guard let first = try await group.next() else { throw SDKClientError.timeout }
      return first
    }
  }
}
