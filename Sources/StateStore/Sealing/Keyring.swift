import Cryptography
import FoundationEssentials

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
  /// The key with which the lookup tags of outbox entries are computed.
  let outboxNames: SymmetricKey
  /// The keys for events, in ascending order of position. Each rotation of the master key begins another one.
  let events: [EventKey]
}

extension Keyring {
  /// Creates new keys.
  init() {
    cursors = SymmetricKey()
    outboxNames = SymmetricKey()
    events = [EventKey(first: 0, key: SymmetricKey())]
  }

  /// Derives the keys from the master key, as databases before schema version 3 did.
  init(before3 master: SymmetricKey) {
    cursors = DerivedKey.derive(from: master, purpose: "cursors")
    outboxNames = DerivedKey.derive(from: master, purpose: "outbox names")
    events = [EventKey(first: 0, key: DerivedKey.derive(from: master, purpose: "events"))]
  }
}

/// The owner of a data key. The wrapped key opens only for exactly this owner.
enum KeyOwner {
  /// An instance until its next wipe.
  case instance(InstanceUUID, storageEpoch: UInt64)
  /// An entry of an instance's outbox.
  case outboxEntry(InstanceUUID, tag: Data)
  /// The state itself. `purpose` names the key; a key for events seals those from the position `first` on.
  case state(purpose: String, first: UInt64)

  func context(slot: Int64) -> AdditionalData {
    var context: AdditionalData
    switch self {
    case .instance(let uuid, let storageEpoch):
      context = AdditionalData("data_key.wrapped", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(storageEpoch)
    case .outboxEntry(let uuid, let tag):
      context = AdditionalData("data_key.outbox", of: uuid)
      context.append(UInt64(bitPattern: slot))
      context.append(field: tag)
    case .state(let purpose, let first):
      context = AdditionalData("data_key.state")
      context.append(UInt64(bitPattern: slot))
      context.append(purpose)
      context.append(first)
    }
    return context
  }
}

/// Keys derived from another key, one for each purpose (HKDF-SHA256).
enum DerivedKey {
  static func derive(from key: SymmetricKey, purpose: String) -> SymmetricKey {
    key.derive(for: "sdkd \(purpose)")
  }
}

/// The keys with which the census is sealed and digested. They outlive the master key.
struct CensusKeys {
  let seal: SymmetricKey
  let digest: AuthenticationKey

  /// Derives the keys from one of the state's own keys.
  init(_ outboxNames: SymmetricKey) {
    seal = DerivedKey.derive(from: outboxNames, purpose: "census seal")
    digest = AuthenticationKey(DerivedKey.derive(from: outboxNames, purpose: "census digest"))
  }
}
