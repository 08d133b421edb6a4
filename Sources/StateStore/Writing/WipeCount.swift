import JSONRPC

/// What the wipe in a change has destroyed, as far as the change has come.
struct WipeCount {
  private let former: JSON?
  private(set) var wiped: CommitResult.Wiped

  /// What a wipe of an instance with this identity destroys.
  init(of former: JSON?, storage: Int, pushes: Int, storageEpoch: UInt64) {
    self.former = former
    wiped = CommitResult.Wiped(
      storage: storage, tokens: StoredIdentity.tokenCount(in: former), pushes: pushes, storageEpoch: storageEpoch)
  }

  /// Takes out the tokens that are written again.
  mutating func identified(as identity: JSON?) {
    wiped.tokens = StoredIdentity.tokenCount(in: former, notKeptIn: identity)
  }
}
