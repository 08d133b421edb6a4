import SDKProtocol
import Testing

@testable import sdkd

@Suite struct BackupScheduleTests {
  private let now = Timestamp(secondsSince1970: 1_000_000)

  private func wait(after last: Double?, start: Double = 0, earliest: Double = 0) -> Double {
    BackupService.wait(
      after: last.map { now + $0 }, every: 3600, start: now + start, notBefore: now + earliest, now: now)
  }

  @Test func isDueAfterItsTime() {
    #expect(wait(after: -600) == 3000)
    #expect(wait(after: -7200) == 0)
    // After a failure, the next attempt comes a minute later.
    #expect(wait(after: -7200, earliest: 60) == 60)
    // The first backup of a new state comes a minute after the start.
    #expect(wait(after: nil) == 60 && wait(after: nil, start: -90) <= 0)
    // The last backup lies in the future, since the clock was set back.
    #expect(wait(after: 90_000, start: -90) <= 0)
  }
}
