/// The source of the root key.
public enum RootKeySource: Sendable {
  /// `root.key` in the state directory, created with a new state.
  case file
  /// A key from the service manager, and the key that is to replace it. The state opens with either of them or with
  /// `root.key`, and is rewrapped under `next`, or else under the first key. `root.key` is deleted once all backups are
  /// rewrapped too. Without any key, this is the same as `file`.
  case credential(RootKey?, next: RootKey? = nil)
}

/// The root key that wraps a state's master key.
public enum RootKeyOrigin: String, Sendable, Hashable {
  /// `root.key` in the state directory.
  case file
  /// The credential `sdkd.key`.
  case credential
  /// The credential `sdkd.key.next`, which is to replace `sdkd.key`.
  case nextCredential
}
