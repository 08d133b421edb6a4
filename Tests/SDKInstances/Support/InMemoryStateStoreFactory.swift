import Doubles
import StateStore

/// A factory of in-memory stores that use a test's clock.
enum InMemoryStateStoreFactory {
  static func make(_ clock: ManualClock) -> InMemoryStateStore { InMemoryStateStore(clock: { clock.now }) }
}
