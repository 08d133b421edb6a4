import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of an open state, all made from its master key.
struct Vault: Sendable {
  /// Wraps the data keys of instances and outbox entries.
  let wrapping: LockedKey
  /// Seals events; outlives every wipe.
  let events: LockedKey
  /// Makes the tags of outbox entries, which outlive the data keys of their instances.
  let outboxNames: LockedKey
  let cursors: CursorCoder

  init(master: SymmetricKey, stateID: String) throws(StoreOpenError) {
    wrapping = try LockedKey(DerivedKey.derive(from: master, purpose: "data keys"))
    events = try LockedKey(DerivedKey.derive(from: master, purpose: "events"))
    outboxNames = try LockedKey(DerivedKey.derive(from: master, purpose: "outbox names"))
    cursors = CursorCoder(key: DerivedKey.derive(from: master, purpose: "cursors"), stateID: stateID)
  }

  /// False when a key could be swapped to disk.
  var isLocked: Bool { wrapping.isLocked && events.isLocked && outboxNames.isLocked }

  /// What the id of an outbox entry is found by: the same for the same id, and telling nothing about it.
  func outboxTag(of id: String, in instance: InstanceUUID) -> Data {
    var name = AdditionalData("outbox.tag", of: instance)
    name.append(id)
    return outboxNames.use { Data(HMAC<SHA256>.authenticationCode(for: name.bytes, using: $0).prefix(16)) }
  }
}
