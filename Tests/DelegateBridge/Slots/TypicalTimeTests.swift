import Testing

@testable import DelegateBridge

@Suite struct TypicalTimeTests {
  @Test func theFirstTimeCountsAndThenBadNewsTravelFaster() throws {
    var time = TypicalTime()
    #expect(time.seconds == nil)
    time.note(2)
    #expect(time.seconds == 2)
    time.note(4)
    #expect(time.seconds == 3)
    time.note(1)
    #expect(time.seconds == 2.75)
  }

  @Test func whatIsNoTimeChangesNothing() {
    var time = TypicalTime()
    time.note(.nan)
    time.note(.infinity)
    #expect(time.seconds == nil)
    time.note(-5)
    #expect(time.seconds == 0)
    time.note(1e9)
    #expect(time.seconds == 300)
  }
}
