import Concurrency
import Testing

struct PromiseTests {
  struct Failure: Error, Equatable {}

  @Test func `A result that has come is given at once, and the first counts`() async throws {
    let promise = Promise<Int>()
    #expect(promise.resolve(.success(1)))
    #expect(!promise.resolve(.success(2)))
    #expect(try await promise.value() == 1)
    #expect(try await promise.valueIgnoringCancellation() == 1)
  }

  @Test func `All who wait get the same`() async throws {
    let promise = Promise<Int>()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<50 {
        group.addTask { index % 2 == 0 ? try await promise.value() : try await promise.valueIgnoringCancellation() }
      }
      group.addTask {
        promise.resolve(.success(7))
        return 7
      }
      for try await value in group { #expect(value == 7) }
    }
  }

  @Test func `Cancelling one ends its waiting and nobody else's`() async throws {
    let promise = Promise<Int>()
    let patient = Task { try await promise.value() }
    let stubborn = Task { try await promise.valueIgnoringCancellation() }
    let gone = Task { try await promise.value() }
    gone.cancel()
    stubborn.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
    promise.resolve(.success(3))
    #expect(try await patient.value == 3)
    #expect(try await stubborn.value == 3)
  }

  @Test func `A failure reaches all`() async {
    let promise = Promise<Int>()
    let waiting = Task { try await promise.value() }
    promise.resolve(.failure(Failure()))
    await #expect(throws: Failure.self) { try await waiting.value }
    await #expect(throws: Failure.self) { try await promise.value() }
  }
}
