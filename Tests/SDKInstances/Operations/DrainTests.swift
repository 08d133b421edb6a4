import SDKProtocol
import Testing

@testable import SDKInstances

@Suite struct DrainTests {
  /// Runs work until a drain begins meanwhile, and returns the reason why the caller got no result.
  private func reason(
    _ drain: Drain, _ body: @escaping @Sendable @concurrent () async throws -> Int
  ) async -> Reason? {
    do { _ = try await drain.repeatable(body) } catch { return (error as? SDKError)?.reason }
    return nil
  }

  @Test("Work has its result while there is no drain")
  func withoutDrain() async throws {
    let drain = Drain()
    #expect(try await drain.repeatable { 7 } == 7)
    await #expect(throws: CancellationError.self) {
      try await drain.repeatable { () async throws -> Int in throw CancellationError() }
    }
  }

  @Test("A drain ends repeatable work at once, even if it ignores its cancellation")
  func repeatable() async throws {
    let (drain, begun, end) = (Drain(), Gate(), Gate())
    async let reason = reason(drain) {
      begun.open()
      await end.wait()
      return Task.isCancelled ? 1 : 0
    }
    await begun.wait()
    drain.begin()
    #expect(await reason == .shuttingDown)
    end.open()
  }

  @Test("No repeatable work begins after the drain")
  func later() async {
    let drain = Drain()
    drain.begin()
    #expect(drain.hasBegun)
    #expect(await reason(drain) { 7 } == .shuttingDown)
    #expect(throws: SDKError.shuttingDown) { try drain.check() }
  }

  @Test("The caller's own cancellation cancels the work")
  func cancellation() async {
    let (drain, begun) = (Drain(), Gate())
    let task = Task {
      try await drain.repeatable { () async -> Bool in
        begun.open()
        while !Task.isCancelled { await Task.yield() }
        return true
      }
    }
    await begun.wait()
    task.cancel()
    #expect(await task.result.isSuccess)
  }

  @Test("A time that began with the drain runs out, and never becomes negative")
  func left() {
    let drain = Drain()
    #expect(drain.left(of: .seconds(600)) == .seconds(600))
    drain.begin()
    #expect(drain.left(of: .seconds(600)) < .seconds(600))
    #expect(drain.left(of: .zero) == .zero)
  }

  @Test("settle waits for cancelled work to end")
  func settling() async {
    let (drain, begun, ended) = (Drain(), Gate(), Gate())
    async let reason = reason(drain) {
      begun.open()
      while !Task.isCancelled { await Task.yield() }
      ended.open()
      return 0
    }
    await begun.wait()
    drain.begin()
    await drain.settle()
    #expect(await reason == .shuttingDown)
    await ended.wait()
    await drain.settle()
  }
}

extension Result {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
