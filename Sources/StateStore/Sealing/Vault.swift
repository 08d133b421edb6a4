import Cryptography
import FoundationEssentials
import Synchronization

/// The keys of an open state.
final class Vault: Sendable {
  private struct Keys {
    /// The key that wraps data keys.
    var wrapping: WrappingKey
    /// A second key that may have wrapped a data key, while the master key is being replaced.
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
  /// The key with which `outboxTag` computes the lookup tags of outbox entries. It is not an instance's data key,
  /// because the entries outlive that.
  let outboxNames: LockedKey
  let cursors: CursorCoder
  let identityDigests: IdentityDigests
  /// The key that wraps the master key.
  private let rootKey: LockedKey

  init(
    master: SymmetricKey, root: RootKey, keyring: Keyring, stateID: String
  ) throws(StoreOpenError) {
    var events: [EventKey] = []
    for key in keyring.events { events.append(try EventKey(key)) }
    keys = Mutex(Keys(wrapping: try WrappingKey(master: master), events: events))
    outboxNames = try LockedKey(keyring.outboxNames)
    cursors = CursorCoder(key: keyring.cursors, stateID: stateID)
    identityDigests = IdentityDigests(key: keyring.outboxNames)
    rootKey = try LockedKey(root.key)
  }

  /// The error number with which the system refused to lock the wrapping key, the root key or the key for outbox tags
  /// in memory; 0 if all of them are locked.
  var lockError: CInt {
    [keys.withLock { $0.wrapping.lockError }, outboxNames.lockError, rootKey.lockError].first { $0 != 0 } ?? 0
  }

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

  /// Calls `body` with the key of the event at a position.
  func withEventKey<Result>(at position: UInt64, _ body: (SymmetricKey) throws -> Result) throws -> Result {
    guard let key = keys.withLock({ keys in keys.events.last { $0.first <= position }?.key }) else {
      throw SealError(what: "the key of an event")
    }
    return try key.use(body)
  }

  /// The keys of the census.
  var censusKeys: CensusKeys { outboxNames.use { CensusKeys($0) } }

  /// Returns the lookup tag of an outbox entry's ID. Equal IDs of an instance have equal tags, and a tag reveals
  /// nothing about its ID.
  func outboxTag(of id: String, in instance: InstanceUUID) -> Data {
    var name = AdditionalData("outbox.tag", of: instance)
    name.append(id)
    return outboxNames.use { Data($0.authenticationCode(of: name.bytes).prefix(16)) }
  }

  // MARK: Replacing the master key

  /// The current key that wraps data keys.
  var wrapping: WrappingKey { keys.withLock { $0.wrapping } }

  /// Sets the second key that `unwrap` tries; `nil` for none.
  func expect(_ other: WrappingKey?) { keys.withLock { $0.other = other } }

  /// Completes the replacement of the master key: wraps under `next`, still opens what the former key wrapped, and
  /// seals events under `events`.
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
