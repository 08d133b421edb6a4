/// The limits on the age of events and on their number for each instance.
public struct EventRetention: Sendable, Hashable {
  /// The age in seconds after which an event is removed.
  public var maxAge: Double
  /// The maximum number of events that are kept for one instance.
  public var maxCountPerInstance: Int

  /// Creates limits. `maxAge` is in seconds. The defaults are seven days and a thousand events.
  public init(maxAge: Double = 7 * 86_400, maxCountPerInstance: Int = 1000) {
    self.maxAge = maxAge
    self.maxCountPerInstance = max(0, maxCountPerInstance)
  }
}
