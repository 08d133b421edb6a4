import ServiceLifecycle
import StateStore

/// Runs the one writer of the state; it stops last, when nobody has anything to store any more.
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
