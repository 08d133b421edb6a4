/// A place in the event order, as a cursor contains it.
public struct EventPlace: Sendable, Hashable {
  /// The position of the event before this place; 0 for the place before the first event.
  public var position: UInt64
  /// The position up to which the loss of events was already reported.
  public var acknowledged: UInt64

  /// Creates a place.
  public init(_ position: UInt64, acknowledged: UInt64 = 0) {
    self.position = position
    self.acknowledged = acknowledged
  }
}

/// The result of decoding a text as a cursor.
public enum CursorReading: Sendable, Hashable {
  /// A valid cursor of this state.
  case place(EventPlace)
  /// A well-formed cursor of another state, or a forged one.
  case foreign
  /// A text that does not have the format of a cursor.
  case malformed
}
