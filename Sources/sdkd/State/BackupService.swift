import Logging
import SDKProtocol
import ServiceLifecycle
import StateStore
import Synchronization

/// A service that makes backups of the state at intervals (`[backup]`).
struct BackupService: Service {
  /// The result of the last backup.
  final class Status: Sendable {
    private let problem = Mutex<String?>(nil)

    /// The reason why the last backup failed; `nil` when it did not.
    var failure: String? { problem.withLock { $0 } }

    func set(_ failure: String?) { problem.withLock { $0 = failure } }
  }

  let store: SQLiteStateStore
  let settings: @Sendable () -> Configuration.Backup
  let status: Status
  let logger: Logger
  var now: @Sendable () -> Timestamp = { .now }

  /// The seconds before the first backup of a state without one, and after a failure.
  private static let patience = 60.0
  /// The longest sleep in seconds. The settings and the clock may change, so both are checked again after it.
  private static let longestWait = 600.0

  func run() async throws {
    let start = now()
    try? await cancelWhenGracefulShutdown {
      var earliest = start
      while true {
        let wait = seconds(from: start, notBefore: earliest)
        if let wait, wait <= 0 {
          await makeCopy()
          earliest = now() + Self.patience
        } else {
          try await Task.sleep(for: .seconds(min(wait ?? Self.longestWait, Self.longestWait)))
        }
      }
    }
  }

  /// Returns the seconds until the next backup; `nil` when backups are disabled.
  private func seconds(from start: Timestamp, notBefore earliest: Timestamp) -> Double? {
    let settings = settings()
    guard settings.every.value > 0 else { return nil }
    let last = store.backups.first(where: \.isOwn)?.createdAt
    return Self.wait(after: last, every: settings.every.value, start: start, notBefore: earliest, now: now())
  }

  /// Returns the seconds until the next backup.
  ///
  /// - Parameters:
  ///   - last: the time of the last backup. One in the future is ignored, since the clock was set back.
  ///   - earliest: the earliest time, so that a failure is not repeated at once.
  static func wait(
    after last: Timestamp?, every: Double, start: Timestamp, notBefore earliest: Timestamp, now: Timestamp
  ) -> Double {
    let due = last.flatMap { $0 <= now ? $0 + every : nil } ?? start + min(every, patience)
    return max(due - now, earliest - now)
  }

  private func makeCopy() async {
    do {
      let copy = try await store.backUp(keep: settings().keep)
      if status.failure != nil { logger.notice("Backups are made again.") }
      status.set(nil)
      logger.info("A copy of the state was made: \(copy.name), \(copy.bytes) bytes.")
    } catch {
      let why = (error as? SDKError)?.message ?? "an unexpected failure"
      status.set(why)
      logger.error(
        "No backup was made: \(why)", metadata: ["messageID": "\(JournalMessage.backupFailed.id)"])
    }
  }
}
