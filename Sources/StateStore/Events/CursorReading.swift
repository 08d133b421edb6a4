/// The result of decoding a text as a cursor.
public enum CursorReading: Sendable, Hashable {
  /// A valid cursor of this state.
  case place(EventPlace)
  /// A well-formed cursor of another state, or a forged one.
  case foreign
  /// A text that does not have the format of a cursor.
  case malformed
}
