/// How many providers run at a time.
public struct SlotLimits: Sendable, Hashable {
  /// Slots for runs that are expected to end soon: `bridge.max_concurrent`.
  public var concurrent: Int
  /// Runs in all, those that gave their slot back included: `bridge.max_running`.
  public var running: Int
  /// The share of one owner: as many runs begin before those of owners that are over their share.
  public var runningPerOwner: Int
  /// Runs in all while an owner over its share begins another: room for a share is left, so that an owner that comes
  /// later is served while all of these hang.
  var runningOverShare: Int { max(1, running - min(runningPerOwner, running / 4)) }
  /// Runs in all for instances that files define, which count for themselves each: a quarter is left to the users.
  var runningForFiles: Int { max(1, running - running / 4) }
  /// After this time a run gives its slot back.
  public var slow: Duration

  /// Limits; each is at least one.
  public init(
    concurrent: Int = 32, running: Int = 256, runningPerOwner: Int = 8, slow: Duration = .seconds(2)
  ) {
    self.concurrent = max(1, concurrent)
    self.running = max(1, running)
    self.runningPerOwner = max(1, runningPerOwner)
    self.slow = slow
  }
}
