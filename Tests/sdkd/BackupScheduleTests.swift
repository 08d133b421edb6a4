import SDKProtocol
import Testing

@testable import sdkd

@Suite struct BackupScheduleTests {
  private let now = Timestamp(secondsSince1970: 1_000_000)
  private let instant = ContinuousClock.now

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

  /// Returns the times of the backups that a schedule makes from `now` on, relative to `now`.
  ///
  /// - Parameters:
  ///   - start: the start of the daemon, relative to `now`.
  ///   - backups: the times of the backups that exist at first.
  ///   - isListed: whether the backups that are made are found in the folder.
  ///   - hours: the duration of the simulation.
  private func times(start: Double = 0, _ backups: [Double], isListed: Bool, hours: Double = 1) -> [Double] {
    var schedule = BackupSchedule(start: now + start, instant: instant)
    var (elapsed, made) = (0.0, [Double]())
    while elapsed < hours * 3600 {
      let time = now + elapsed
      let instant = instant + .seconds(elapsed)
      let present = (backups + (isListed ? made : [])).map { now + $0 }
      let wait = schedule.wait(after: present, every: 3600, now: time, instant: instant)
      if wait > 0 {
        elapsed += min(wait, 600)
      } else {
        made.append(elapsed)
        schedule.attempted(at: time, instant: instant, isMade: true)
      }
    }
    return made
  }

  @Test("After the clock was set back, one backup is made in each interval", arguments: [true, false])
  func oneBackupIsMadeAfterTheClockWasSetBack(isListed: Bool) {
    #expect(times([90_000], isListed: isListed) == [60])
    #expect(times(start: 90_000, [], isListed: isListed) == [60])
    #expect(times(start: 90_000, [90_000, -600], isListed: isListed) == [3000])
  }

  @Test("Backups dated ahead of a clock that was set back don't delay the next one", arguments: [true, false])
  func laterBackupsDoNotDelayTheNextOne(isListed: Bool) {
    // The backups of 0, -3600 and -7200, after the clock was set back by 5400 seconds.
    #expect(times([5400, 1800, -1800], isListed: isListed, hours: 3.5) == [3600, 7200, 10_800])
  }

  @Test("A backup that fails is tried again after a minute")
  func aFailureIsTriedAgain() {
    var schedule = BackupSchedule(start: now - 90, instant: instant - .seconds(90))
    #expect(schedule.wait(after: [], every: 3600, now: now, instant: instant) <= 0)
    schedule.attempted(at: now, instant: instant, isMade: false)
    #expect(schedule.wait(after: [], every: 3600, now: now, instant: instant) == 60)
    // A pause that began before the clock was set back does not last longer.
    #expect(schedule.wait(after: [], every: 3600, now: now - 9000, instant: instant) == 60)
    // Neither does one after a failure when the last backup is long ago.
    let later = instant + .seconds(9000)
    schedule.attempted(at: now, instant: later, isMade: false)
    #expect(schedule.wait(after: [], every: 3600, now: now, instant: later) == 60)
  }
}
