import Doubles
import SDKProtocol
import StateStore

/// A store that passes all calls to another one, except those that a conforming type implements itself.
protocol ForwardingStore: StateStore {
  var base: any StateStore { get }
}

extension ForwardingStore {
  var health: StoreHealth { base.health }
  var cursors: CursorCoder { base.cursors }
  var identityDigests: IdentityDigests { base.identityDigests }
  var meta: StoreMeta { base.meta }

  func load() async throws(SDKError) -> StoredState { try await base.load() }

  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult { try await base.commit(change) }

  func note(failedWipes: [String: UInt64], of instance: InstanceUUID) async throws(SDKError) {
    try await base.note(failedWipes: failedWipes, of: instance)
  }

  func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    try await base.storageValue(of: instance, key: key)
  }

  func storageKeys(of instance: InstanceUUID) async throws(SDKError) -> [(key: String, bytes: Int)] {
    try await base.storageKeys(of: instance)
  }

  func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    try await base.storagePage(of: instance, after: key, limit: limit)
  }

  func events(after position: UInt64, limit: Int) async throws(SDKError) -> [StoredEvent] {
    try await base.events(after: position, limit: limit)
  }

  func eventPage(
    after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?
  ) async throws(SDKError) -> EventPage {
    try await base.eventPage(after: position, limit: limit, of: instances)
  }
}

/// A store whose wipes are on disk before they are acknowledged: that waits for a gate.
struct HeldWipeStore: ForwardingStore {
  let base: any StateStore
  let gate: Gate

  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    let result = try await base.commit(change)
    if change.destroysIdentity { await gate.wait() }
    return result
  }
}

/// A store whose commits wait for a gate.
struct HeldStore: ForwardingStore {
  let base: any StateStore
  let gate: Gate

  func commit(_ change: InstanceChange) async throws(SDKError) -> CommitResult {
    await gate.wait()
    return try await base.commit(change)
  }
}

/// A store whose reads of apps' values wait for a gate.
struct HeldReads: ForwardingStore {
  /// The gate, and a record of the reads that have come to it.
  final class Gates: Sendable {
    let gate = Gate()
    let asked = Records<String>()
  }

  let base: any StateStore
  let gates: Gates

  func storageValue(of instance: InstanceUUID, key: String) async throws(SDKError) -> StoredValue? {
    let value = try await base.storageValue(of: instance, key: key)
    gates.asked.add(key)
    await gates.gate.wait()
    return value
  }

  func storagePage(
    of instance: InstanceUUID, after key: String?, limit: Int
  ) async throws(SDKError) -> StoredKeys? {
    let page = try await base.storagePage(of: instance, after: key, limit: limit)
    gates.asked.add("page")
    await gates.gate.wait()
    return page
  }
}
