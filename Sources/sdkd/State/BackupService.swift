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
  let settings: @Sendable () -> BackupSettings
  let status: Status
  let logger: Logger
  var now: @Sendable () -> Timestamp = { .now }
  var instant: @Sendable () -> ContinuousClock.Instant = { .now }

  /// The longest sleep in seconds. The settings and the clock may change, so both are checked again after it.
  private static let longestWait = 600.0

  func run() async throws {
    try? await cancelWhenGracefulShutdown {
      var schedule = BackupSchedule(start: now(), instant: instant())
      while true {
        let wait = seconds(&schedule)
        if let wait, wait <= 0 {
          let isMade = await makeBackup()
          schedule.attempted(at: now(), instant: instant(), isMade: isMade)
        } else {
          try await Task.sleep(for: .seconds(min(wait ?? Self.longestWait, Self.longestWait)))
        }
      }
    }
  }

  /// Returns the seconds until the next backup; `nil` when backups are disabled.
  private func seconds(_ schedule: inout BackupSchedule) -> Double? {
    let settings = settings()
    guard settings.every / .seconds(1) > 0 else { return nil }
    let own = store.backups.filter(\.isOwn).map(\.createdAt)
    return schedule.wait(after: own, every: settings.every / .seconds(1), now: now(), instant: instant())
  }

  /// Makes a backup. Returns whether it was made.
  private func makeBackup() async -> Bool {
    do {
      let backup = try await store.backUp(keep: settings().keep)
      if status.failure != nil { logger.notice("Backups are made again.") }
      status.set(nil)
      logger.info("A backup was made: \(backup.name), \(backup.bytes) bytes.")
      return true
    } catch {
      let why = (error as? SDKError)?.message ?? "an unexpected failure"
      status.set(why)
      logger.error(
        "No backup was made: \(why)", metadata: ["messageID": "\(JournalMessage.backupFailed.id)"])
      return false
    }
  }
}
