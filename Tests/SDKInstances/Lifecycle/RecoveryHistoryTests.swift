import SDKProtocol
import Testing

@testable import SDKInstances

/// The pauses that a failed renewal causes.
struct RecoveryHistoryTests {
  private func history(after error: SDKError, retryAfter: Double?) -> RecoveryHistory {
    var error = error
    error.retryAfter = retryAfter
    var history = RecoveryHistory()
    history.end(ManualClock.start, failure: error, random: 0.5)
    return history
  }

  @Test func `A vendor that asks for a pause is left alone until its end`() {
    let start = ManualClock.start
    let held = history(after: SampleErrors.serverError, retryAfter: 600)
    #expect(held.heldUntil == start + 600)
    #expect(held.hold(start + 100)?.retryAfter == 500)
    #expect(held.hold(start + 600) == nil)
    #expect(held.hold(start + -1) == nil, "the clock was set back")
  }

  @Test func `Nothing is held back by a success, without a wish, or by a provider's failure`() {
    let start = ManualClock.start
    #expect(history(after: SampleErrors.serverError, retryAfter: nil).hold(start) == nil)
    #expect(history(after: SampleErrors.failed, retryAfter: 600).hold(start) == nil)
    var ended = history(after: SampleErrors.serverError, retryAfter: 600)
    ended.end(start, failure: nil, random: 0.5)
    #expect(ended.hold(start) == nil)
  }
}
