import Testing

@testable import DelegateBridge

@Suite struct BreakerTests {
  @Test func firstRunIsAlwaysAllowed() {
    var breaker = Breaker()
    #expect(breaker.admit(at: .zero) == .allowed)
    #expect(breaker.admit(at: .zero) == .allowed)
  }

  @Test func boundsDoubleFromOneSecondToFiveMinutes() {
    let bounds = (0...12).map { Breaker.bound(afterFailures: $0) / .seconds(1) }
    #expect(bounds == [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
  }

  @Test func opensHalfOpensAndCloses() {
    var breaker = Breaker()
    #expect(breaker.failed(at: .seconds(10), chance: 0.5) == .opened)
    #expect(breaker.nextAttempt == .seconds(10.5))
    #expect(breaker.admit(at: .seconds(10)) == .refused(retryAfter: .seconds(0.5)))
    #expect(breaker.admit(at: .seconds(10.5)) == .allowed)
    #expect(breaker.state == .halfOpen)
    // While one attempt is in progress, further calls are refused.
    #expect(breaker.admit(at: .seconds(10.6)) == .refused(retryAfter: .seconds(1)))
    #expect(breaker.failed(at: .seconds(11), chance: 1) == nil, "it was open all the time")
    #expect(breaker.nextAttempt == .seconds(13))
    #expect(breaker.admit(at: .seconds(13)) == .allowed)
    breaker.succeeded()
    #expect(breaker.state == .closed)
    #expect(breaker.failures == 0)
    #expect(breaker.accepted() == .closed)
    #expect(breaker.accepted() == nil)
  }

  @Test("Rejected answers back off and are reported as other failures, and an accepted one ends that")
  func rejections() {
    var breaker = Breaker()
    for count in 1...4 {
      #expect(breaker.admit(at: .seconds(1000 * count)) == .allowed)
      breaker.succeeded()
      #expect(breaker.rejected(at: .seconds(1000 * count), chance: 1) == (count == 1 ? .opened : nil))
      #expect(breaker.failures == count)
      #expect(breaker.nextAttempt == .seconds(1000 * count) + Breaker.bound(afterFailures: count))
    }
    #expect(breaker.accepted() == nil, "it is open")
    for change in [Breaker.Change.closed, nil] {
      #expect(breaker.admit(at: .seconds(10_000)) == .allowed)
      breaker.succeeded()
      #expect(breaker.accepted() == change)
    }
    _ = breaker.rejected(at: .seconds(10_000), chance: 1)
    #expect(breaker.failures == 1)
  }

  @Test func abandonedTrialMayBeRepeated() {
    var breaker = Breaker()
    _ = breaker.failed(at: .zero, chance: 1)
    #expect(breaker.admit(at: .seconds(2)) == .allowed)
    breaker.abandoned(at: .seconds(3))
    #expect(breaker.admit(at: .seconds(3)) == .allowed)
    #expect(breaker.failures == 1)
  }

  @Test func resetAllowsAtOnce() {
    var breaker = Breaker()
    for _ in 0..<40 { _ = breaker.failed(at: .zero, chance: 1) }
    #expect(breaker.nextAttempt == .seconds(300))
    #expect(breaker.reset() == .closed)
    #expect(breaker.admit(at: .zero) == .allowed)
    #expect(breaker.reset() == nil)
  }

  @Test(arguments: [-1, 0, 0.3, 1, 7]) func jitterStaysInItsBounds(chance: Double) throws {
    var breaker = Breaker()
    for count in 1...20 {
      _ = breaker.failed(at: .zero, chance: chance)
      let next = try #require(breaker.nextAttempt)
      #expect(next >= .zero && next <= Breaker.bound(afterFailures: count))
    }
  }
}
