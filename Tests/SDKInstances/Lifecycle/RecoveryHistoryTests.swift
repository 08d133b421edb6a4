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

  @Test func `Only refusals of supplied credentials end the requests to continue, within a minute`() {
    var history = RecoveryHistory()
    /// Returns whether the owner may be asked, `second` seconds after the start.
    func mayConfirm(_ second: Double, attempt: Int = 1) -> Bool {
      history.mayConfirm(ManualClock.start + second, attempt: attempt, atMost: 2)
    }
    for second in 0..<20 { #expect(mayConfirm(Double(second)), "no response counts as nothing") }
    history.supplied(ManualClock.start + 20)
    #expect(mayConfirm(21))
    #expect(mayConfirm(22), "the same refusal counts once")
    #expect(!mayConfirm(23, attempt: 2), "refused in the same renewal")
    #expect(mayConfirm(82), "a minute later")
    history.supplied(ManualClock.start + 82)
    #expect(mayConfirm(200), "the credential was in use for longer")
  }
}
