import Crypto

/// The keys of a state that seal what belongs to no instance alone. They lie wrapped beside the data keys, so that they
/// outlive the master key.
struct Keyring {
  /// A key of events and the position of the first one that it seals.
  struct EventKey {
    let first: UInt64
    let key: SymmetricKey
  }

  /// Makes cursors; clients hold what it made.
  let cursors: SymmetricKey
  /// Makes the tags of outbox entries.
  let outboxNames: SymmetricKey
  /// Ascending; each rotation of the master key begins another one.
  let events: [EventKey]

  /// New keys.
  init() {
    cursors = SymmetricKey(size: .bits256)
    outboxNames = SymmetricKey(size: .bits256)
    events = [EventKey(first: 0, key: SymmetricKey(size: .bits256))]
  }

  /// The keys as they were before schema 3: made from the master key.
  init(before3 master: SymmetricKey) {
    cursors = DerivedKey.derive(from: master, purpose: "cursors")
    outboxNames = DerivedKey.derive(from: master, purpose: "outbox names")
    events = [EventKey(first: 0, key: DerivedKey.derive(from: master, purpose: "events"))]
  }

  init(cursors: SymmetricKey, outboxNames: SymmetricKey, events: [EventKey]) {
    self.cursors = cursors
    self.outboxNames = outboxNames
    self.events = events
  }
}
