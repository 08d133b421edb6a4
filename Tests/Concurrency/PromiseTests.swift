import Testing

@testable import SDKInstances

struct SharedOutcomeTests {
  struct Failure: Error, Equatable {}

  @Test func `A result that has come is given at once, and the first counts`() async throws {
    let outcome = SharedOutcome<Int>()
    outcome.resolve(.success(1))
    outcome.resolve(.success(2))
    #expect(try await outcome.value() == 1)
    #expect(try await outcome.valueIgnoringCancellation() == 1)
  }

  @Test func `All who wait get the same`() async throws {
    let outcome = SharedOutcome<Int>()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<50 {
        group.addTask { index % 2 == 0 ? try await outcome.value() : try await outcome.valueIgnoringCancellation() }
      }
      group.addTask {
        outcome.resolve(.success(7))
        return 7
      }
      for try await value in group { #expect(value == 7) }
    }
  }

  @Test func `Cancelling one ends its waiting and nobody else's`() async throws {
    let outcome = SharedOutcome<Int>()
    let patient = Task { try await outcome.value() }
    let stubborn = Task { try await outcome.valueIgnoringCancellation() }
    let gone = Task { try await outcome.value() }
    gone.cancel()
    stubborn.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
    outcome.resolve(.success(3))
    #expect(try await patient.value == 3)
    #expect(try await stubborn.value == 3)
  }

  @Test func `A failure reaches all`() async {
    let outcome = SharedOutcome<Int>()
    let waiting = Task { try await outcome.value() }
    outcome.resolve(.failure(Failure()))
    await #expect(throws: Failure.self) { try await waiting.value }
    await #expect(throws: Failure.self) { try await outcome.value() }
  }
}
