import JSONRPC

/// The counts of a wipe, updated by the later parts of its change.
struct WipeCount {
  private let former: JSON?
  private(set) var wiped: CommitResult.Wiped

  /// Creates the counts for the wipe of an instance with the identity `former`.
  init(of former: JSON?, storage: Int, pushes: Int, storageEpoch: UInt64) {
    self.former = former
    wiped = CommitResult.Wiped(
      storage: storage, tokens: StoredIdentity.tokenCount(in: former), pushes: pushes, storageEpoch: storageEpoch)
  }

  /// Subtracts the tokens that the same change writes again.
  mutating func identified(as identity: JSON?) {
    wiped.tokens = StoredIdentity.tokenCount(in: former, notKeptIn: identity)
  }
}
