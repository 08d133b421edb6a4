import SDKProtocol

/// Work at a vendor that ends in time.
enum Deadline {
  /// Runs work, cancelled after so many seconds.
  ///
  /// - Throws: what the work throws, or `late`.
  static func run<T: Sendable>(
    _ seconds: Double, late: SDKError, _ work: @escaping @Sendable @concurrent () async throws -> T
  ) async throws(SDKError) -> T {
    do {
      return try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask(operation: work)
        group.addTask {
          try await ContinuousClock().sleep(for: .seconds(min(max(seconds, 0), 600)))
          throw late
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw late }
        return first
      }
    } catch let error as SDKError {
      throw error
    } catch {
      throw SDKError(.unreachable, .network, "The work at the vendor was given up; try again.")
    }
  }
}
