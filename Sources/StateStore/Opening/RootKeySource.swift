/// Where the root key comes from.
public enum RootKeySource: Sendable {
  /// `root.key` in the directory of the state, made with a new state.
  case file
  /// A key that the service manager keeps, and the one that is to take its place. The state opens with either of them
  /// or with `root.key`, is wrapped anew under the last one that is given, and `root.key` is then removed.
  case credential(RootKey?, next: RootKey? = nil)
}

/// Which root key a state lies under.
public enum RootKeyOrigin: String, Sendable, Hashable {
  /// `root.key` in the directory of the state.
  case file
  /// The credential `sdkd.key`.
  case credential
  /// The credential `sdkd.key.next`, which is to become `sdkd.key`.
  case nextCredential
}
