public import SDKProtocol

extension ProviderBridge {
  /// The current number of provider runs, and of breakers by state.
  public struct Standing: Sendable, Hashable {
    /// The number of runs that hold a slot.
    public var running: Int
    /// The number of runs that lasted so long that they freed their slot.
    public var long: Int
    /// The number of runs that wait for a slot.
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
