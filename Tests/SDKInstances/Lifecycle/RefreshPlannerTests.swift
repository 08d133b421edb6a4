import Randomness
import SDKProtocol
import Testing

@testable import SDKInstances

struct RefreshPlannerTests {
  private let start = Timestamp(secondsSince1970: 1_000_000)

  private func planner(_ mode: RefreshPlanner.Mode = .eager, margin: Double = 60, jitter: Double = 0.1)
    -> RefreshPlanner
  {
    RefreshPlanner(mode: mode, margin: margin, jitter: jitter, minInterval: 5)
  }

  @Test func `Lazy and unknown ends are never renewed ahead of time`() {
    #expect(planner(.lazy).renewal(obtained: start, expires: start + 3600, random: 0) == nil)
    #expect(planner().renewal(obtained: start, expires: nil, random: 0) == nil)
  }

  @Test(arguments: [(3600.0, 3240.0), (300, 240), (7200, 6480), (100, 50)])
  func `The margin is sixty seconds or a tenth, at most half the life`(lifetime: Double, planned: Double) {
    #expect(planner().renewal(obtained: start, expires: start + lifetime, random: 0) == start + planned)
  }

  @Test func `Any plan lies between the obtaining and the end, and chance only makes it earlier`() throws {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<5000 {
      let lifetime = Double.random(in: 0.01...100_000, using: &random)
      let planner = planner(
        margin: Double.random(in: 0...5000, using: &random), jitter: Double.random(in: 0...0.5, using: &random))
      let lead = Double.random(in: 0...60, using: &random)
      let chance = Double.random(in: -0.5...1.5, using: &random)
      let plan = try #require(
        planner.renewal(obtained: start, expires: start + lifetime, lead: lead, random: chance))
      let latest = try #require(planner.renewal(obtained: start, expires: start + lifetime, lead: lead, random: 0))
      #expect(plan <= latest)
      #expect(plan < start + lifetime)
      #expect(plan >= start + min(5, lifetime / 2) - 0.000_001)
      #expect(latest - plan <= planner.jitter * lifetime + 0.000_001)
    }
  }

  @Test func `A slow provider is asked so much earlier`() {
    #expect(planner().renewal(obtained: start, expires: start + 3600, lead: 30, random: 0) == start + 3210)
  }

  @Test func `A failed renewal is tried again after the interval and the breaker`() {
    #expect(planner().retry(after: start, breaker: nil, random: 0) == start + 5)
    #expect(planner().retry(after: start, breaker: nil, random: 1) == start + 10)
    #expect(planner().retry(after: start, breaker: start + 100, random: 1) == start + 100)
    #expect(planner().retry(after: start, breaker: start + 1, random: 0) == start + 5)
  }

  @Test func `Attempts are spread over a time that doubles up to five minutes`() {
    let delays = (1...10).map { planner().retry(after: start, failures: $0, breaker: nil, random: 1) - start }
    #expect(delays == [10, 15, 25, 45, 85, 165, 305, 305, 305, 305])
    #expect(planner().retry(after: start, failures: 30, breaker: nil, random: 0) == start + 5)
    #expect(planner().retry(after: start, failures: .max, breaker: nil, random: 7) == start + 305)
  }

  @Test func `While the credential lives attempts come closer together before its end`() {
    func delay(_ left: Double) -> Double {
      planner().retry(after: start, failures: 9, breaker: nil, end: start + left, random: 1) - start
    }
    #expect(delay(1000) == 305)
    #expect(delay(200) == 105)
    #expect(delay(4) == 10)
    #expect(delay(-4) == 305)
  }
}
