public import SDKProtocol

extension ProviderBridge {
  /// The current load of the bridge.
  public struct Standing: Sendable, Hashable {
    /// Providers that run and hold a slot.
    public var running: Int
    /// Providers that have run so long that they freed their slot.
    public var long: Int
    /// Runs that wait for a slot.
    public var waiting: Int
    /// The number of breakers by state. A key that never requested a run has no breaker.
    public var breakers: [Instance.Bridge.BreakerState: Int]
  }

  /// The number of running and waiting providers, and of breakers in each state.
  public var standing: Standing {
    let counts = slots.counts
    return Standing(
      running: counts.slots, long: counts.long, waiting: counts.waiting, breakers: breakers.counts)
  }
}
