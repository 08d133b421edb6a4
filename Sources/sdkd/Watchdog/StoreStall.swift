import Logging
import SDKProtocol
import Synchronization

/// Tells a slow disk, on which the store's writer waits, from a writer that is wedged.
final class StoreStall: Sendable {
  private let interval: Duration
  private let disk: DiskCheck
  private let logger: Logger
  /// A copy of a large state on a slow disk takes minutes.
  private static let longestWork = Duration.seconds(600)
  /// How long the writer has been silent, when that is long.
  private let silence = Mutex<Duration?>(nil)

  /// - Parameter interval: the manager's; a stall of twice as long is told.
  init(interval: Duration, disk: DiskCheck, logger: Logger) {
    self.interval = interval
    self.disk = disk
    self.logger = logger
  }

  /// Whether the writer's silence is no wedge: it is short, or the disk does not answer either, or the writer is at work
  /// that takes its time.
  ///
  /// - Parameter longWork: how long such work has lasted.
  func excuses(_ duration: Duration, longWork: Duration?) -> Bool {
    guard duration >= interval / 2 else { return true }
    if let longWork, longWork < Self.longestWork { return true }
    let hasAnswered = disk.hasAnswered()
    note(duration)
    return !hasAnswered || duration < interval
  }

  /// The writer has answered.
  func end() {
    disk.reset()
    if silence.withLock({ silence in
      defer { silence = nil }
      return silence
    }) != nil {
      logger.notice("The disk answers again.", metadata: ["messageID": "\(JournalMessage.diskAnswers.id)"])
    }
  }

  /// For `daemon.health`.
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
