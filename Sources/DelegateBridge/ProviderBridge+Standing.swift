public import SDKProtocol

extension ProviderBridge {
  /// How the bridge stands as a whole.
  public struct Standing: Sendable, Hashable {
    /// Providers that run and hold a slot.
    public var running: Int
    /// Providers that run for so long that they gave their slot back.
    public var long: Int
    /// Runs that wait for a slot.
    public var waiting: Int
    /// Breakers by their state; instances whose provider has not run yet have none.
    public var breakers: [Instance.Bridge.BreakerState: Int]
  }

  /// How many providers run and wait, and how the breakers stand.
  public var standing: Standing {
    let counts = slots.counts
    return Standing(
      running: counts.slots, long: counts.long, waiting: counts.waiting, breakers: breakers.counts)
  }
}
