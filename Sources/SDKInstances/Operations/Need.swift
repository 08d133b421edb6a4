import Concurrency

/// The demand for a result. Work for it is cancelled when the demand ends.
final class Need: Sendable {
  private let over = Promise<Void>()

  /// Ends the demand.
  func end() { over.resolve(.success(())) }

  /// Runs the work, which is cancelled when the demand ends. Returns the work's own result in both cases.
  func run<T: Sendable>(_ work: @escaping @Sendable @concurrent () async -> T) async -> T? {
    await withTaskGroup(of: T?.self) { group in
      group.addTask { await work() }
      group.addTask { [over] in
        _ = try? await over.value()
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      if let first { return first }
      return await group.next() ?? nil
    }
  }
}
