import SDKClient
import Testing

struct RetryScheduleTests {
  @Test func pausesDoubleUpToTheLongest() {
    var schedule = RetrySchedule(first: .milliseconds(10), longest: .milliseconds(50), limit: nil)
    #expect((0..<5).map { _ in schedule.next() } == [10, 20, 40, 50, 50].map { .milliseconds($0) })
  }

  @Test func theLimitBoundsTheSum() {
    var schedule = RetrySchedule(first: .seconds(1), longest: .seconds(2), limit: .seconds(4))
    var sum = Duration.zero
    while let pause = schedule.next() { sum += pause }
    #expect(sum == .seconds(4))
    #expect(schedule.next() == nil)
  }

  @Test func theRandomPartIsUpToAHalf() {
    var schedule = RetrySchedule(first: .seconds(1), longest: .seconds(8), limit: nil)
    #expect([0, 0.5, 1, 7].map { schedule.next(random: $0) } == [0.5, 1.5, 4, 8].map { .seconds($0) })
  }

  @Test func noneAtAll() {
    var schedule = RetrySchedule(limit: .zero)
    #expect(schedule.next() == nil)
  }
}
