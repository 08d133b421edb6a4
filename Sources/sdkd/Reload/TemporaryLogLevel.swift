import Logging
import SDKInstances
import SDKProtocol
import Synchronization

/// The level of the journal: the configured one, or another one for a while (`daemon.setLogLevel`).
final class TemporaryLogLevel: Sendable {
  private struct Levels {
    var configured: Logger.Level
    var temporary: (level: Logger.Level, until: Timestamp)?

    var level: Logger.Level { temporary?.level ?? configured }

    var published: JournalLevel {
      JournalLevel(level: LogLevel(level), configured: LogLevel(configured), until: temporary?.until)
    }
  }

  private let levels: Mutex<Levels>
  private let clock: WallClock
  private let deadlines: Deadlines
  private let logger: Logger
  private let apply: @Sendable (Logger.Level) -> Void

  /// The time for which a level applies by default, in seconds.
  private static let standardSeconds = 600

  /// Creates a level that is the configured one.
  ///
  /// - Parameter apply: sets the level of the log.
  init(
    configured: Logger.Level, clock: WallClock, deadlines: Deadlines, logger: Logger,
    apply: @escaping @Sendable (Logger.Level) -> Void
  ) {
    levels = Mutex(Levels(configured: configured))
    self.clock = clock
    self.deadlines = deadlines
    self.logger = logger
    self.apply = apply
  }

  /// The level in force.
  var current: JournalLevel { levels.withLock { $0.published } }

  /// Changes the level for a while, or restores the configured one.
  func set(_ params: DaemonSetLogLevel.Params) -> JournalLevel {
    change { [clock] levels in
      levels.temporary = params.level.map {
        ($0.loggerLevel, clock.now() + Double(params.seconds ?? Self.standardSeconds))
      }
    }
  }

  /// Takes over the configured level. A temporary level ends if the configured one has changed.
  func use(_ configured: Logger.Level) {
    change { levels in
      if levels.configured != configured { levels.temporary = nil }
      levels.configured = configured
    }
  }

  private func expire() {
    change { [clock] levels in
      if let temporary = levels.temporary, temporary.until <= clock.now() { levels.temporary = nil }
    }
  }

  /// Makes a change, applies it to the log, and reports it there.
  @discardableResult
  private func change(_ edit: (inout Levels) -> Void) -> JournalLevel {
    levels.withLock { levels in
      let former = levels.published
      edit(&levels)
      let next = levels.published
      guard next != former else { return next }
      deadlines.set("logLevel", at: next.until) { [weak self] in self?.expire() }
      let until = next.until.map { " until \($0); after that it is \(next.configured.rawValue) again" } ?? ""
      // The line is written while the more verbose of both levels applies.
      let isMore = next.level.loggerLevel < former.level.loggerLevel
      if isMore { apply(levels.level) }
      logger.notice("The level of the journal is \(next.level.rawValue)\(until).")
      if !isMore { apply(levels.level) }
      return next
    }
  }
}

extension LogLevel {
  /// Creates the level that the log calls the same. Tests compare the names of all levels.
  init(_ level: Logger.Level) { self = LogLevel(rawValue: level.rawValue) ?? .info }

  /// The level of the log with the same name.
  var loggerLevel: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
}
