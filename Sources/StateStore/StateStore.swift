public import SDKProtocol

/// What survives: instances, their identity and storage, and the log of events.
///
/// A change is acknowledged when it is durable; after `kill -9` at any moment a restart shows exactly what had been
/// acknowledged. Calls obey no cancellation: a vanishing caller never takes a change back.
public protocol StateStore: Sendable {
  /// Everything that must be in memory, read once at start. An instance whose rows don't open is quarantined alone.
  ///
  /// - Throws: `storeUnavailable`, `keyMissing`.
  func load() async throws(SDKError) -> StoredState

  /// Applies one change as a whole and answers when it is on disk.
  ///
  /// A change that creates expects nothing; one of events alone needs no instance; any other needs its instance.
  ///
  /// - Throws: `epochChanged` when the instance's epoch is not the expected one any more, or not below the one it is
  ///   raised to; `instanceExists`; `instanceNotFound` when it was deleted; `storageFull`; `instanceQuarantined`;
  ///   `storeUnavailable`.
  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult

  /// A stored value; `nil` if there is no such instance.
  func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue?

  /// The keys in storage with the size of their values in bytes, sorted.
  func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)]

  /// The next keys in storage in an order of the store's own; `nil` if there is no such instance.
  ///
  /// - Parameter key: the last key of the page before; `nil` for the first page.
  func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys?

  /// Events after a position, oldest first.
  func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent]

  /// The next events of some instances, or of all for `nil`, after a position, oldest first, and what retention has
  /// taken after it; both from one snapshot. It reads a bounded part of the log: a page may be short or empty though
  /// more follows after where it has `reached`.
  func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage

  /// The position of the newest event, and the newest position that is no longer kept for some instance.
  func eventBounds() async throws(SDKError) -> EventBounds

  /// How the store is.
  var health: StoreHealth { get }

  /// Cursors of this state's events.
  var cursors: CursorCoder { get }

  /// What the store knows of itself.
  var meta: StoreMeta { get }
}
