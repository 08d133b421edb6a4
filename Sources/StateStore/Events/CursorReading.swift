/// What a text is that was given as a cursor.
public enum CursorReading: Sendable, Hashable {
  /// A cursor of this state.
  case place(EventPlace)
  /// A cursor of another state, or one that somebody made up.
  case foreign
  /// No cursor at all.
  case malformed
}
