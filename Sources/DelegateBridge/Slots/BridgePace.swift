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

/// An exponentially weighted moving average of durations that rises faster (α = 0.5) than it falls (α = 0.125).
public struct TypicalTime: Sendable, Hashable {
  /// The average, in seconds; `nil` before the first sample.
  public private(set) var seconds: Double?

  /// Creates an average without samples.
  public init() {}

  /// Adds a sample in seconds, clamped to 0 … 600. Ignores one that is not finite.
  public mutating func note(_ sample: Double) {
    guard sample.isFinite else { return }
    let sample = min(max(sample, 0), 600)
    guard let former = seconds else {
      seconds = sample
      return
    }
    seconds = former + (sample - former) * (sample > former ? 0.5 : 0.125)
  }
}
