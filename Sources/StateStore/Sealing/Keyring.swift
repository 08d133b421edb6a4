import Crypto

/// The keys of a state for data that belongs to no single instance. They are stored wrapped beside the data keys, so
/// that they outlive the master key.
struct Keyring {
  /// A key for events, and the position of the first event that it seals.
  struct EventKey {
    let first: UInt64
    let key: SymmetricKey
  }

  /// The key for cursors. It stays the same, because clients keep cursors.
  let cursors: SymmetricKey
  /// The key for the tags of outbox entries.
  let outboxNames: SymmetricKey
  /// The keys for events, in ascending order of position. Each rotation of the master key begins another one.
  let events: [EventKey]

  /// Creates new keys.
  init() {
    cursors = SymmetricKey(size: .bits256)
    outboxNames = SymmetricKey(size: .bits256)
    events = [EventKey(first: 0, key: SymmetricKey(size: .bits256))]
  }

  /// Derives the keys from the master key, as before schema 3.
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
