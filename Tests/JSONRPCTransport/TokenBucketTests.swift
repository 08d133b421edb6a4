import JSONRPCTransport
import Testing

struct TokenBucketTests {
  private let second: UInt64 = 1_000_000_000

  @Test func givesABurstAndThenSoMuchASecond() {
    var bucket = TokenBucket(perSecond: 10, burst: 3)
    let now = 5 * second
    for _ in 0..<3 { #expect(bucket.take(at: now) == nil) }
    #expect(bucket.take(at: now) == second / 10)
    #expect(bucket.take(at: now + second / 20) == second / 20)
    #expect(bucket.take(at: now + second / 10) == nil)
    #expect(bucket.take(at: now + second / 10) == second / 10)
  }

  @Test func keepsNoMoreThanTheBurst() {
    var bucket = TokenBucket(perSecond: 1000, burst: 4)
    #expect(bucket.isFull(at: 0))
    var taken = 0
    for _ in 0..<10 where bucket.take(at: 3600 * second) == nil { taken += 1 }
    #expect(taken == 4)
    #expect(!bucket.isFull(at: 3600 * second))
    #expect(bucket.isFull(at: 3600 * second + 4_000_000))
  }

  @Test func overAMinuteItGivesTheRate() {
    var bucket = TokenBucket(perSecond: 500, burst: 1000)
    var taken = 0
    // Take ten times as often as the rate permits.
    for step in 0..<(60 * 5000) where bucket.take(at: UInt64(step) * 200_000) == nil { taken += 1 }
    #expect(abs(taken - (60 * 500 + 1000)) <= 1)
  }

  @Test func aDebtIsWaitedForInTurn() {
    var bucket = TokenBucket(perSecond: 10, burst: 2)
    #expect(bucket.charge(2, at: 0) == 0)
    #expect(bucket.charge(1, at: 0) == second / 10)
    #expect(bucket.charge(1, at: 0) == second / 5)
    #expect(bucket.charge(0, at: second / 5) == 0)
    #expect(bucket.charge(-7, at: second / 5) == 0)
  }

  @Test func aClockThatGoesBackGivesNothingForFree() {
    var bucket = TokenBucket(perSecond: 1, burst: 1)
    #expect(bucket.take(at: 100 * second) == nil)
    #expect(bucket.take(at: 90 * second) == 11 * second)
  }

  @Test("A bucket that continues a used one has no more tokens than that one has after the same time")
  func continued() {
    var used = TokenBucket(perSecond: 10, burst: 3)
    let now = 5 * second
    for _ in 0..<3 { #expect(used.take(at: now) == nil) }
    var next = TokenBucket(perSecond: 10, burst: 3)
    next.adopt(fullAt: used.fullAt, at: now)
    #expect(next == used)
    #expect(next.take(at: now) == second / 10)
    next.adopt(fullAt: used.fullAt, at: now + second / 10)
    #expect(next.take(at: now + second / 10) == nil)
    #expect(next.take(at: now + second / 10) == second / 10)
    // A second adoption does not give back what was taken since.
    next.adopt(fullAt: used.fullAt, at: now + second / 10)
    #expect(next.take(at: now + second / 10) == second / 10)
  }

  @Test("A continued bucket has at least no tokens and at most its own burst", arguments: [0, 1, UInt64.max])
  func continuedWithin(time: UInt64) {
    let now = 5 * second
    for burst in [1, 4, 100] {
      var bucket = TokenBucket(perSecond: 100, burst: burst)
      bucket.adopt(fullAt: time, at: now)
      var taken = 0
      for _ in 0..<1000 where bucket.take(at: now) == nil { taken += 1 }
      #expect(taken == (time == .max ? 0 : burst))
      #expect(bucket.take(at: now + second / 100) == nil)
    }
  }

  @Test(arguments: [(Int.max, Int.max), (0, 0), (-1, -1), (1, Int.max), (Int.max, 1)])
  func noNumberOverflows(perSecond: Int, burst: Int) {
    var bucket = TokenBucket(perSecond: perSecond, burst: burst)
    for now in [0, 1, UInt64.max, 0] {
      _ = bucket.take(at: now)
      _ = bucket.charge(.max, at: now)
      _ = bucket.isFull(at: now)
      bucket.adopt(fullAt: .max, at: now)
    }
  }
}
