/// How long events are kept, for each instance.
public struct EventRetention: Sendable, Hashable {
  /// Seconds after which an event is dropped.
  public var maxAge: Double
  /// How many events of one instance are kept.
  public var maxCountPerInstance: Int

  /// Seven days and a thousand events unless said otherwise.
  public init(maxAge: Double = 7 * 86_400, maxCountPerInstance: Int = 1000) {
    self.maxAge = maxAge
    self.maxCountPerInstance = max(0, maxCountPerInstance)
  }
}
