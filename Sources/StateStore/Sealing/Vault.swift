import Crypto
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of an open state.
final class Vault: Sendable {
  private struct Keys {
    /// Wraps data keys.
    var wrapping: WrappingKey
    /// While the master key is being replaced: what a reader may find wrapped under besides.
    var other: WrappingKey?
    var events: [EventKey]
  }

  private struct EventKey {
    let first: UInt64
    let key: LockedKey

    init(_ key: Keyring.EventKey) throws(StoreOpenError) {
      first = key.first
      self.key = try LockedKey(key.key)
    }
  }

  private let keys: Mutex<Keys>
  /// Makes the tags of outbox entries, which outlive the data keys of their instances.
  let outboxNames: LockedKey
  let cursors: CursorCoder
  /// Wraps the master key.
  private let rootKey: LockedKey

  init(
    master: SymmetricKey, root: RootKey, keyring: Keyring, stateID: String
  ) throws(StoreOpenError) {
    var events: [EventKey] = []
    for key in keyring.events { events.append(try EventKey(key)) }
    keys = Mutex(Keys(wrapping: try WrappingKey(master: master), events: events))
    outboxNames = try LockedKey(keyring.outboxNames)
    cursors = CursorCoder(key: keyring.cursors, stateID: stateID)
    rootKey = try LockedKey(root.key)
  }

  /// False when a key could be swapped to disk.
  var isLocked: Bool { keys.withLock { $0.wrapping.isLocked } && outboxNames.isLocked && rootKey.isLocked }

  /// The root key.
  var root: RootKey { rootKey.use { RootKey($0) } }

  func wrap(_ key: SymmetricKey, for owner: KeyOwner, slot: Int64) throws(SealError) -> Data {
    try keys.withLock { $0.wrapping }.wrap(key, for: owner, slot: slot)
  }

  func unwrap(_ wrapped: Data, for owner: KeyOwner, slot: Int64) throws(SealError) -> SymmetricKey {
    let (wrapping, other) = keys.withLock { ($0.wrapping, $0.other) }
    do throws(SealError) {
      return try wrapping.unwrap(wrapped, for: owner, slot: slot)
    } catch {
      guard let other else { throw error }
      return try other.unwrap(wrapped, for: owner, slot: slot)
    }
  }

  /// Lends the key of the event at a position.
  func withEventKey<Result>(at position: UInt64, _ body: (SymmetricKey) throws -> Result) throws -> Result {
    guard let key = keys.withLock({ keys in keys.events.last { $0.first <= position }?.key }) else {
      throw SealError(what: "the key of an event")
    }
    return try key.use(body)
  }

  /// The keys of the census.
  var censusKeys: CensusKeys { outboxNames.use { CensusKeys($0) } }

  /// What an outbox entry's id is found by: the same for the same id, and telling nothing about it.
  func outboxTag(of id: String, in instance: InstanceUUID) -> Data {
    var name = AdditionalData("outbox.tag", of: instance)
    name.append(id)
    return outboxNames.use { Data(HMAC<SHA256>.authenticationCode(for: name.bytes, using: $0).prefix(16)) }
  }

  // MARK: Another master key

  /// The key that wraps now.
  var wrapping: WrappingKey { keys.withLock { $0.wrapping } }

  /// From now on readers may find data keys wrapped under this one too; `nil`: no more.
  func expect(_ other: WrappingKey?) { keys.withLock { $0.other = other } }

  /// The master key is replaced: wraps under the other key, opens what the former one wrapped, seals events under these.
  func adopt(_ next: WrappingKey, events: [Keyring.EventKey]) throws(StoreOpenError) {
    var locked: [EventKey] = []
    for key in events { locked.append(try EventKey(key)) }
    let adopted = locked
    keys.withLock { keys in
      keys.other = keys.wrapping
      keys.wrapping = next
      keys.events = adopted
    }
  }
}
