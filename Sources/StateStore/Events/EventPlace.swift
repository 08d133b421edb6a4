/// A place in the order of events.
public struct EventPlace: Sendable, Hashable {
  /// Stands after the event of this position; 0 before the first.
  public var position: UInt64
  /// That events up to this position are lost has been told already.
  public var acknowledged: UInt64

  /// A place.
  public init(_ position: UInt64, acknowledged: UInt64 = 0) {
    self.position = position
    self.acknowledged = acknowledged
  }
}
