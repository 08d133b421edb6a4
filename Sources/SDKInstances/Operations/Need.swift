import Concurrency

/// Whether anybody still needs a result. Work for it is cancelled when nobody does.
final class Need: Sendable {
  private let over = Promise<Void>()

  /// Nobody needs it any more.
  func end() { over.resolve(.success(())) }

  /// Does the work; it is cancelled when the need ends, and its result is what it makes of that.
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
