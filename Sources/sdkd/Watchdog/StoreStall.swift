import Logging
import SDKProtocol
import Synchronization

/// A test that distinguishes a slow disk, for which the store's writer waits, from a writer that is stalled.
final class StoreStall: Sendable {
  private let interval: Duration
  private let disk: DiskCheck
  private let logger: Logger
  /// The longest time of work that excuses silence: a backup of a large state on a slow disk takes minutes.
  private static let longestWork = Duration.seconds(600)
  /// The time for which the writer has been silent; `nil` unless a stall was reported.
  private let silence = Mutex<Duration?>(nil)

  /// Creates a test without a reported stall.
  ///
  /// - Parameter interval: the manager's watchdog interval. A stall of at least twice this time is reported.
  init(interval: Duration, disk: DiskCheck, logger: Logger) {
    self.interval = interval
    self.disk = disk
    self.logger = logger
  }

  /// Returns whether the writer's silence is excused. It is while it is short, while the disk does not respond either,
  /// and while the writer does long work.
  ///
  /// - Parameter longWork: the duration of the long work in progress; `nil` for none.
  func excuses(_ duration: Duration, longWork: Duration?) -> Bool {
    guard duration >= interval / 2 else { return true }
    if let longWork, longWork < Self.longestWork { return true }
    let hasAnswered = disk.hasAnswered()
    note(duration)
    return !hasAnswered || duration < interval
  }

  /// Records that the writer has responded.
  func end() {
    disk.reset()
    if silence.withLock({ silence in
      defer { silence = nil }
      return silence
    }) != nil {
      logger.notice("The disk answers again.", metadata: ["messageID": "\(JournalMessage.diskAnswers.id)"])
    }
  }

  /// The check for `daemon.health`; empty unless a stall was reported.
  var checks: [DaemonHealth.Check] {
    guard let silence = silence.withLock({ $0 }) else { return [] }
    return [.init(name: "disk", status: .degraded, detail: Self.words(silence))]
  }

  private func note(_ duration: Duration) {
    guard duration >= interval * 2 else { return }
    let isNews = silence.withLock { silence in
      defer { silence = duration }
      return silence == nil
    }
    guard isNews else { return }
    logger.error("\(Self.words(duration))", metadata: ["messageID": "\(JournalMessage.diskSilent.id)"])
  }

  private static func words(_ silence: Duration) -> String {
    "The disk of the state has not answered for \(Int(silence / .seconds(1))) s: changes wait; look at the disk."
  }
}
