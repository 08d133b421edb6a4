/// Where the root key comes from.
public enum RootKeySource: Sendable {
  /// `root.key` in the directory of the state, made with a new state.
  case file
  /// A key that the caller has.
  case key(RootKey)
}
