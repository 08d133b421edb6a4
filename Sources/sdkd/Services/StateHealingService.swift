import Dispatch
import Logging
import ServiceLifecycle
import StateStore

/// A service that restarts the program when the state directory, which was not writable at the start, becomes writable.
struct StateHealingService: Service {
  let directory: String
  let restart: ProgramRestart
  /// Writes pending audit and log records.
  let flush: @Sendable () -> Void
  let logger: Logger

  private static let pause = Duration.seconds(2)

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.pause)) != nil {
        guard await isWritable() else { continue }
        logger.notice("The state in \(directory) can be written: the daemon starts anew with it.")
        flush()
        restart.run()
        logger.error("The daemon can't start anew; restart it.")
        return
      }
    }
  }

  /// Checks on a thread of its own: the disk may hang, and no thread of the task pool may wait for it.
  private func isWritable() async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: StateAccess.isWritable(directory)) }
    }
  }
}
