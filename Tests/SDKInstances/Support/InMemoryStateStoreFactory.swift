import StateStore

/// A store on a test's clock.
enum InMemoryStateStoreFactory {
  static func make(_ clock: ManualClock) -> InMemoryStateStore { InMemoryStateStore(clock: { clock.now }) }
}
