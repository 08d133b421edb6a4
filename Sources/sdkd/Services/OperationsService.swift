import SDKInstances
import ServiceLifecycle

/// Runs shared work; on shutdown takes no more and lets what runs end.
struct OperationsService: Service {
  let operations: Operations

  func run() async {
    await withGracefulShutdownHandler {
      await operations.run()
    } onGracefulShutdown: {
      operations.finish()
    }
  }
}
