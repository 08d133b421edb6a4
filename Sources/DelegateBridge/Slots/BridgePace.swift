/// The number of providers that run at a time and the time of each. Early renewals are spread out by it.
public struct BridgePace: Sendable, Hashable {
  /// The number of runs at a time.
  public var slots: Int
  /// The number of runs of one owner at a time.
  public var slotsPerOwner: Int
  /// The typical duration of a run that was answered, in seconds; `nil` before the first.
  public var seconds: Double?

  /// Creates a pace; each number of slots is at least one.
  public init(slots: Int, slotsPerOwner: Int, seconds: Double? = nil) {
    self.slots = max(1, slots)
    self.slotsPerOwner = max(1, min(slots, slotsPerOwner))
    self.seconds = seconds
  }
}
