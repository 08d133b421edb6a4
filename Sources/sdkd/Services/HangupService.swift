import SDKInstances
import ServiceLifecycle
import UnixSignals

/// A service that reloads the configuration at each SIGHUP. The journal has the result.
struct HangupService: Service {
  let reloader: Reloader
  let operations: Operations

  func run() async throws {
    for await _ in await UnixSignalsSequence(trapping: .sighup).cancelOnGracefulShutdown() {
      operations.start { _ = try? await reloader.reload() }
    }
  }
}
