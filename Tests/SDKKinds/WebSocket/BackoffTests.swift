import Testing

@testable import SDKKinds

/// Growing pauses, each of a random length below a ceiling.
@Suite struct BackoffTests {
  @Test("Ceilings double from the first to the longest and stay there")
  func ceilings() {
    var backoff = Backoff(first: 1, longest: 10)
    #expect((0..<7).map { _ in backoff.next(1) } == [1, 2, 4, 8, 10, 10, 10])
    backoff.reset()
    #expect(backoff.next(1) == 1)
  }

  @Test("The wait is a random part of the whole")
  func jitter() {
    var backoff = Backoff(first: 4, longest: 60)
    #expect(backoff.next(0) == 0)
    #expect(backoff.next(0.25) == 2)
    for _ in 0..<100_000 { #expect((0..<60.0).contains(backoff.next())) }
  }

  @Test("Numbers that make no sense give no endless wait")
  func nonsense() {
    var odd = Backoff(first: .nan, longest: .infinity)
    #expect(odd.next(1) == 0)
    var reversed = Backoff(first: 5, longest: 1)
    #expect(reversed.next(7) == 5)
    #expect(reversed.next(-1) == 0)
  }
}
