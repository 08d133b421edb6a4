import SDKInstances
import ServiceLifecycle

/// A service that runs shared work. On shutdown it accepts no more, and lets running work end within a time limit.
struct OperationsService: Service {
  let operations: Operations
  /// The time that work in progress gets at the end, before it is cancelled. Acknowledged changes are durable long
  /// before.
  let patience: Duration
  /// Ends the requests to vendors that are then in progress.
  let hangUp: @Sendable () async -> Void

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        await withGracefulShutdownHandler {
          await operations.run()
        } onGracefulShutdown: {
          operations.finish()
        }
      }
      group.addTask {
        try? await gracefulShutdown()
        try? await Task.sleep(for: patience)
        await hangUp()
      }
      await group.next()
      group.cancelAll()
    }
  }
}
