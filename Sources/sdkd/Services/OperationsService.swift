import SDKInstances
import ServiceLifecycle

/// Runs shared work; on shutdown takes no more and lets what runs end, for a bounded time.
struct OperationsService: Service {
  let operations: Operations
  /// How long what still runs at the end gets, before it is cancelled; acknowledged changes are durable long before.
  let patience: Duration
  /// Ends the requests to vendors that are under way then.
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
