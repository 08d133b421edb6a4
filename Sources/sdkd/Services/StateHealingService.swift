import Dispatch
import Logging
import ServiceLifecycle
import StateStore

/// Restarts the program when the directory of the state, which was not writable at the start, becomes writable.
struct StateHealingService: Service {
  let directory: String
  let restart: ProgramRestart
  /// Writes what is still to be logged.
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

  /// The disk may hang: no thread of the task pool waits for it.
  private func isWritable() async -> Bool {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: StateAccess.isWritable(directory)) }
    }
  }
}
