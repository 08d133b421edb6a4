import Cryptography
public import SDKProtocol

/// The durable storage of instances, their identity and storage, and the event log.
///
/// A change is acknowledged once it is durable. After `kill -9` at any moment, a restart shows every acknowledged
/// change. Calls ignore cancellation, so that a caller that disconnects never undoes a change.
public protocol StateStore: Sendable {
  /// Reads everything that must be in memory; called once at start. An instance whose rows do not open is quarantined
  /// and does not affect the others.
  ///
  /// - Throws: `storeUnavailable`, `keyMissing`.
  func load() async throws(SDKError) -> StoredState

  /// Applies a change as a whole and returns once it is on disk.
  ///
  /// A change that creates an instance ignores the expected epochs. A change with only events and no expected epoch
  /// needs no instance. Any other change needs its instance to exist.
  ///
  /// - Throws: `epochChanged` when the epoch or the storage epoch of the instance is not the expected one, or its epoch
  ///   is not below the one it is raised to. Also `instanceExists`, `storageFull`, `instanceQuarantined`,
  ///   `storeUnavailable`, and `instanceNotFound` when the instance was deleted.
  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult

  /// Replaces the notes of an instance's services whose wipe could not be stored, also on a full disk. After a restart,
  /// `load` returns the services in `StoredInstance.failedWipes`, unless a wipe was stored since.
  ///
  /// - Parameter failedWipes: the storage epochs that the wipes were to end, by service. The name is empty for an instance
  ///   without services.
  /// - Throws: `storeUnavailable`. A restart may then find the former notes or the new ones.
  func note(failedWipes: [String: UInt64], of instance: InstanceUUID) async throws(SDKError)

  /// Returns a stored value, or `nil` if there is no such instance.
  func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue?

  /// Returns the keys in storage with the sizes of their values in bytes, sorted by key.
  func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)]

  /// Returns the next keys in storage, in an order that the store chooses, or `nil` if there is no such instance.
  ///
  /// - Parameter key: the last key of the previous page; `nil` for the first page.
  func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys?

  /// Returns the events after a position, oldest first, at most `limit`.
  func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent]

  /// Returns the next events of some instances, or of all for `nil`, after a position, oldest first. The page also
  /// contains the losses to retention after the position, from the same snapshot. One call reads a bounded part of the
  /// log, so a page may be short or empty although more events follow after `reached`.
  func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage

  /// The health of the store.
  var health: StoreHealth { get }

  /// The coder for cursors of this state's events.
  var cursors: CursorCoder { get }
  /// The digests of ids that are secrets.
  var identityDigests: IdentityDigests { get }

  /// The facts about the state and its opening.
  var meta: StoreMeta { get }
}

extension StateStore {
  /// Returns the position of the newest event ever written; 0 if there was none.
  public func newestPosition() async throws(SDKError) -> UInt64 {
    try await eventPage(after: .max, limit: 0, of: []).newest
  }
}

/// A placeholder for a state that could not be opened. Every call fails with the reason.
public struct UnavailableStateStore: StateStore {
  private let error: SDKError
  public let cursors: CursorCoder
  public let identityDigests = IdentityDigests()
  public let meta: StoreMeta

  /// Creates a store whose calls fail with this error.
  public init(_ error: SDKError) {
    self.error = error
    meta = StoreMeta(stateID: InstanceUUID.random().description, restartCount: 0)
    cursors = CursorCoder(key: SymmetricKey(), stateID: meta.stateID)
  }

  public func load() async throws(SDKError) -> StoredState { throw error }
  public func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult { throw error }
  public func note(failedWipes: [String: UInt64], of instance: InstanceUUID) async throws(SDKError) { throw error }
  public func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    throw error
  }
  public func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] {
    throw error
  }
  public func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    throw error
  }
  public func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] { throw error }
  public func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage { throw error }
  public var health: StoreHealth { .failing(error) }
}
