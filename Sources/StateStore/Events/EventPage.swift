/// A stretch of the log of events, read from one snapshot.
public struct EventPage: Sendable, Hashable {
  /// The events, oldest first.
  public var events: [StoredEvent]
  /// Everything up to this position was looked at; what is not among the events was not asked for.
  public var reached: UInt64
  /// The newest position ever given.
  public var newest: UInt64
  /// The newest position that retention has taken from each instance that has lost events after the position asked
  /// for.
  public var lost: [InstanceUUID: UInt64]

  /// A page with these parts.
  public init(events: [StoredEvent], reached: UInt64, newest: UInt64, lost: [InstanceUUID: UInt64] = [:]) {
    self.events = events
    self.reached = reached
    self.newest = newest
    self.lost = lost
  }
}
