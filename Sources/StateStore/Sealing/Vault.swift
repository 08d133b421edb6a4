import Crypto

/// The keys of an open state, all made from its master key.
struct Vault: Sendable {
  /// Wraps the data keys of instances.
  let wrapping: LockedKey
  /// Seals events; outlives every wipe.
  let events: LockedKey
  let cursors: CursorCoder

  init(master: SymmetricKey, stateID: String) throws(StoreOpenError) {
    wrapping = try LockedKey(DerivedKey.derive(from: master, purpose: "data keys"))
    events = try LockedKey(DerivedKey.derive(from: master, purpose: "events"))
    cursors = CursorCoder(key: DerivedKey.derive(from: master, purpose: "cursors"), stateID: stateID)
  }

  /// False when a key could be swapped to disk.
  var isLocked: Bool { wrapping.isLocked && events.isLocked }
}
