import SDKInstances
import ServiceLifecycle
import UnixSignals

/// Has the configuration read again at each SIGHUP; what comes of it is in the journal.
struct HangupService: Service {
  let reloader: Reloader
  let operations: Operations

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      operations.start { _ = try? await reloader.reload() }
    }
  }
}
