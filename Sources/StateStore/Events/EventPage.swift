/// A page of the event log, read from one snapshot.
public struct EventPage: Sendable, Hashable {
  /// The events, oldest first.
  public var events: [StoredEvent]
  /// The position up to which the log was searched. Events up to it that are missing in the page were not requested or
  /// do not open.
  public var reached: UInt64
  /// The newest position ever assigned.
  public var newest: UInt64
  /// The instances that lost events after the requested position, each with the newest position that retention has
  /// removed. ``InstanceUUID/anyDeleted`` stands for deleted instances of which no event is left.
  public var lost: [InstanceUUID: UInt64]

  /// Creates a page.
  public init(events: [StoredEvent], reached: UInt64, newest: UInt64, lost: [InstanceUUID: UInt64] = [:]) {
    self.events = events
    self.reached = reached
    self.newest = newest
    self.lost = lost
  }
}
