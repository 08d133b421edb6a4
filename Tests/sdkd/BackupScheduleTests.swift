import SDKProtocol
import Testing

@testable import sdkd

@Suite struct BackupScheduleTests {
  private let now = Timestamp(secondsSince1970: 1_000_000)

  private func wait(after last: Double?, start: Double = 0, earliest: Double = 0) -> Double {
    BackupSchedule.wait(
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
    // So does the start.
    #expect(wait(after: nil, start: 90_000) == 60)
  }

  /// Returns the times of the backups that a schedule makes in the hour from `now`, relative to `now`.
  ///
  /// - Parameters:
  ///   - start: the start of the daemon, relative to `now`.
  ///   - backups: the times of the backups that exist at first.
  ///   - isListed: whether the backups that are made are found in the folder.
  private func times(start: Double = 0, _ backups: [Double], isListed: Bool) -> [Double] {
    var schedule = BackupSchedule(start: now + start)
    var (time, made) = (now, [Timestamp]())
    while time < now + 3600 {
      let present = backups.map { now + $0 } + (isListed ? made : [])
      let wait = schedule.wait(after: present, every: 3600, now: time)
      if wait > 0 {
        time = time + min(wait, 600)
      } else {
        made.append(time)
        schedule.attempted(at: time, isMade: true)
      }
    }
    return made.map { $0 - now }
  }

  @Test("After the clock was set back, one backup is made in each interval", arguments: [true, false])
  func oneBackupIsMadeAfterTheClockWasSetBack(isListed: Bool) {
    #expect(times([90_000], isListed: isListed) == [60])
    #expect(times(start: 90_000, [], isListed: isListed) == [60])
    #expect(times(start: 90_000, [90_000, -600], isListed: isListed) == [3000])
  }

  @Test("A backup that fails is tried again after a minute")
  func aFailureIsTriedAgain() {
    var schedule = BackupSchedule(start: now - 90)
    #expect(schedule.wait(after: [], every: 3600, now: now) <= 0)
    schedule.attempted(at: now, isMade: false)
    #expect(schedule.wait(after: [], every: 3600, now: now) == 60)
    // A pause that began before the clock was set back does not last longer.
    #expect(schedule.wait(after: [], every: 3600, now: now - 9000) == 60)
  }
}
