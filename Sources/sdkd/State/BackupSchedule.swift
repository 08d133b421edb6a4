import SDKProtocol

/// The times that decide when the next backup is due. A clock that is set back neither stops the backups nor makes one
/// every minute.
struct BackupSchedule {
  /// The seconds before the first backup of a state without one, and after a failure.
  private static let patience = 60.0

  private var start: Timestamp
  /// The earliest time of the next attempt, so that a failure is not repeated at once.
  private var earliest: Timestamp
  /// The time of the last backup of this run; `nil` before the first one.
  private var last: Timestamp?
  /// The instant of the last backup of this run, or of the start. It bounds the wait however the wall clock is set.
  private var lastInstant: ContinuousClock.Instant

  init(start: Timestamp, instant: ContinuousClock.Instant) {
    (self.start, earliest, lastInstant) = (start, start, instant)
  }

  /// Returns the seconds until the next backup: at most `every` after the last backup of this run, or after the start.
  ///
  /// - Parameters:
  ///   - backups: the times of the backups that the schedule has made, in any order. Times in the future are ignored,
  ///     since the clock was set back. They count as new when the clock passes them.
  ///   - instant: the present instant of a clock that is never set.
  mutating func wait(
    after backups: [Timestamp], every: Double, now: Timestamp, instant: ContinuousClock.Instant
  ) -> Double {
    start = min(start, now)
    earliest = min(earliest, now + Self.patience)
    let newest = (backups + [last].compactMap { $0 }).filter { $0 <= now }.max()
    let wait = Self.wait(after: newest, every: every, start: start, notBefore: earliest, now: now)
    let longest = every - (instant - lastInstant) / .seconds(1)
    return min(wait, max(longest, earliest - now))
  }

  /// Records an attempt to make a backup, and whether one was made.
  mutating func attempted(at now: Timestamp, instant: ContinuousClock.Instant, isMade: Bool) {
    if isMade { (last, lastInstant) = (now, instant) }
    earliest = now + Self.patience
  }

  /// Returns the seconds until the next backup.
  ///
  /// - Parameters:
  ///   - last: the time of the last backup. One in the future is ignored, since the clock was set back.
  ///   - start: the start of the daemon. One in the future counts as now.
  ///   - earliest: the earliest time of the next attempt.
  static func wait(
    after last: Timestamp?, every: Double, start: Timestamp, notBefore earliest: Timestamp, now: Timestamp
  ) -> Double {
    let due = last.flatMap { $0 <= now ? $0 + every : nil } ?? min(start, now) + min(every, patience)
    return max(due - now, earliest - now)
  }
}
