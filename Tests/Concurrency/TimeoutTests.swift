import Concurrency
import Testing

struct TimeoutTests {
  struct Failure: Error {}

  @Test func `Work that ends in time gives its result, also nil`() async throws {
    #expect(try await withTimeout(.seconds(60)) { 7 } == 7)
    #expect(try await withTimeout(.seconds(60)) { nil as Int? } == nil)
    await #expect(throws: Failure.self) { try await withTimeout(.seconds(60)) { throw Failure() } }
  }

  @Test func `Work that takes longer is cancelled`() async {
    await #expect(throws: TimeoutError.self) {
      try await withTimeout(.milliseconds(10)) { try await Task.sleep(for: .seconds(60)) }
    }
    await #expect(throws: TimeoutError.self) {
      try await withTimeout(.seconds(-1)) { try await Task.sleep(for: .seconds(60)) }
    }
  }

  @Test func `A cancelled caller gets what its work makes of that`() async throws {
    let began = Promise<Void>()
    let waiting = Task {
      try await withTimeout(.seconds(60)) {
        began.resolve(.success(()))
        do { try await Task.sleep(for: .seconds(60)) } catch { throw Failure() }
      }
    }
    try await began.value()
    waiting.cancel()
    await #expect(throws: Failure.self) { try await waiting.value }
  }
}
