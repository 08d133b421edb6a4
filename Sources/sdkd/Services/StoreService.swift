import ServiceLifecycle
import StateStore

/// A service that runs the only writer of the state. It stops last, when no other service stores anything.
struct StoreService: Service {
  let store: SQLiteStateStore

  func run() async {
    await withGracefulShutdownHandler {
      await store.run()
    } onGracefulShutdown: {
      store.stop()
    }
  }
}
