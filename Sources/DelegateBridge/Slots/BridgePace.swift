/// How many providers run at a time and how long each takes: what renewals ahead of time are spread out by.
public struct BridgePace: Sendable, Hashable {
  /// Runs at a time.
  public var slots: Int
  /// Runs of one owner at a time.
  public var slotsPerOwner: Int
  /// Seconds that a run which was answered takes as a rule; `nil` before the first.
  public var seconds: Double?

  /// A pace.
  public init(slots: Int, slotsPerOwner: Int, seconds: Double? = nil) {
    self.slots = max(1, slots)
    self.slotsPerOwner = max(1, min(slots, slotsPerOwner))
    self.seconds = seconds
  }
}
