import SDKProtocol
import Testing

@testable import SDKClient

/// The retry decision about a failed call, as a pure function.
struct CallAttemptsTests {
  private func verdict(
    _ failure: SDKClientError, isRead: Bool, wasSent: Bool = true, wasConnected: Bool = true,
    patience: Duration = .zero
  ) -> CallAttempts.Verdict {
    var attempts = CallAttempts(
      "m", isRead: isRead, schedule: RetrySchedule(first: .seconds(1), longest: .seconds(1), limit: .seconds(2)),
      patience: patience)
    return attempts.verdict(on: failure, wasSent: wasSent, wasConnected: wasConnected, random: 1)
  }

  private static func refusal(_ reason: Reason, retryAfter: Double? = nil) -> SDKClientError {
    .rpc(SDKError(.limit, reason, "No.", retryAfter: retryAfter).rpcError)
  }

  private let again = CallAttempts.Verdict.again(after: .seconds(1))

  @Test func `A lost answer: a read is sent again, of a write nobody knows`() {
    #expect(verdict(.closed, isRead: true) == again)
    #expect(verdict(.closed, isRead: false) == .fail(.outcomeUnknown(method: "m", .connectionEnded)))
    #expect(verdict(.closed, isRead: false, wasSent: false) == again)
  }

  @Test func `A time-out: nothing was changed by a read or by what was not sent`() {
    #expect(verdict(.timeout, isRead: true) == .fail(.timeout))
    #expect(verdict(.timeout, isRead: false, wasSent: false) == .fail(.timeout))
    #expect(verdict(.timeout, isRead: false) == .fail(.outcomeUnknown(method: "m", .timeout)))
  }

  @Test func `An answer that can't be read leaves a write unknown too`() {
    #expect(verdict(.badAnswer("x"), isRead: true) == .fail(.badAnswer("x")))
    #expect(verdict(.badAnswer("x"), isRead: false) == .fail(.outcomeUnknown(method: "m", .connectionEnded)))
  }

  @Test(arguments: [true, false]) func `What was not run is sent again`(isRead: Bool) {
    #expect(verdict(Self.refusal(.shuttingDown), isRead: isRead) == again)
    #expect(verdict(Self.refusal(.tooManyInFlight), isRead: isRead) == again)
    #expect(verdict(.noDaemon(path: "/s"), isRead: isRead, wasSent: false) == again)
    let never = verdict(.noDaemon(path: "/s"), isRead: isRead, wasSent: false, wasConnected: false)
    #expect(never == .fail(.noDaemon(path: "/s")))
  }

  @Test func `The rate limit is waited for by reads, as long as they may`() {
    let refusal = Self.refusal(.rateLimit, retryAfter: 0.25)
    #expect(verdict(refusal, isRead: true) == .fail(refusal))
    #expect(verdict(refusal, isRead: true, patience: .seconds(1)) == .again(after: .seconds(0.25)))
    #expect(verdict(refusal, isRead: false, patience: .seconds(1)) == .fail(refusal))
    var attempts = CallAttempts("m", isRead: true, schedule: RetrySchedule(), patience: .seconds(0.6))
    let verdicts = (0..<3).map { _ in
      attempts.verdict(on: refusal, wasSent: true, wasConnected: true, random: 1)
    }
    #expect(verdicts == [.again(after: .seconds(0.25)), .again(after: .seconds(0.25)), .fail(refusal)])
  }

  @Test func `Other refusals are final`() {
    for reason in [Reason.accessDenied, .network, .providerFailed, .storeUnavailable] {
      #expect(verdict(Self.refusal(reason), isRead: true) == .fail(Self.refusal(reason)))
    }
  }

  @Test func `The tries end with the schedule, and the last failure is said`() {
    var attempts = CallAttempts(
      "m", isRead: true, schedule: RetrySchedule(first: .seconds(1), longest: .seconds(1), limit: .seconds(2)),
      patience: .zero)
    let verdicts = (0..<3).map { _ in
      attempts.verdict(on: .closed, wasSent: true, wasConnected: true, random: 0.5)
    }
    #expect(verdicts == [.again(after: .seconds(0.75)), .again(after: .seconds(0.75)), .again(after: .seconds(0.5))])
    #expect(attempts.verdict(on: .closed, wasSent: true, wasConnected: true, random: 0.5) == .fail(.closed))
  }
}
