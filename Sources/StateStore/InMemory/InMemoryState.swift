import JSONRPC
import SDKProtocol

/// What an `InMemoryStateStore` holds; a value, so that a change which fails is simply forgotten.
struct InMemoryState {
  private struct Entry {
    var instance: StoredInstance
    var storage: [String: JSON] = [:]
  }

  private var entries: [InstanceUUID: Entry] = [:]
  private(set) var quarantined: [QuarantinedInstance] = []
  private var events: [StoredEvent] = []
  private var newest: UInt64 = 0
  private var dropped: [InstanceUUID: UInt64] = [:]

  var instances: [StoredInstance] { entries.values.map(\.instance).sorted { $0.id < $1.id } }

  var bounds: EventBounds {
    EventBounds(newest: newest, dropped: dropped.values.max() ?? 0, droppedByInstance: dropped)
  }

  func events(after position: UInt64, limit: Int) -> [StoredEvent] {
    Array(events.lazy.filter { $0.position > position }.prefix(max(0, limit)))
  }

  func value(of uuid: InstanceUUID, key: String) -> StoredValue? {
    guard let entry = entries[uuid], let value = entry.storage[key] else { return nil }
    return StoredValue(value: value, storageEpoch: entry.instance.storageEpoch)
  }

  func keys(of uuid: InstanceUUID) -> [(key: String, bytes: Int)] {
    (entries[uuid]?.storage ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, JSONWriter.bytes(of: $0.value).count) }
  }

  /// Makes an instance one that does not open, as a damaged row would.
  mutating func quarantine(_ uuid: InstanceUUID, problem: String) {
    guard let entry = entries.removeValue(forKey: uuid) else { return }
    quarantined.append(QuarantinedInstance(uuid: uuid, id: entry.instance.id, problem: problem))
  }

  mutating func apply(_ change: InstanceChange, at time: Timestamp) throws(SDKError) -> CommitResult {
    try check(change)
    var wiped: CommitResult.Wiped?
    for part in change.parts {
      if let counts = try apply(part, of: change) { wiped = counts }
    }
    let written = change.events.map { event in
      newest += 1
      let data = event.type == .identityWiped ? wiped?.data(over: event.data, instance: change.uuid) : nil
      return StoredEvent(
        position: newest, uuid: change.uuid, id: change.id, kind: change.kind, time: time, type: event.type,
        service: event.service, operation: event.operation, data: data ?? event.data)
    }
    events += written
    return CommitResult(events: written, wiped: wiped)
  }

  private func check(_ change: InstanceChange) throws(SDKError) {
    if case .create? = change.parts.first { return }
    let isExpecting = change.expectedEpoch != nil || change.expectedStorageEpoch != nil
    guard isExpecting, let instance = try entry(change)?.instance else { return }
    if let epoch = change.expectedEpoch, epoch != instance.epoch { throw .epochChanged(change.id) }
    if let epoch = change.expectedStorageEpoch, epoch != instance.storageEpoch {
      throw .storageEpochChanged(change.id)
    }
  }

  private func entry(_ change: InstanceChange) throws(SDKError) -> Entry? {
    if let entry = entries[change.uuid] { return entry }
    if let broken = quarantined.first(where: { $0.uuid == change.uuid }) {
      throw .instanceQuarantined(broken.id, broken.problem)
    }
    throw .instanceNotFound(change.id)
  }

  private mutating func apply(
    _ part: InstanceChange.Part, of change: InstanceChange
  ) throws(SDKError) -> CommitResult.Wiped? {
    switch part {
    case .create(let instance):
      let isTaken =
        entries.values.contains { $0.instance.id == instance.id } || quarantined.contains { $0.id == instance.id }
      guard !isTaken, entries[instance.uuid] == nil, instance.uuid == change.uuid else {
        throw .instanceExists(instance.id)
      }
      entries[instance.uuid] = Entry(instance: instance)
      return nil
    case .delete:
      let isQuarantined = quarantined.contains { $0.uuid == change.uuid }
      guard isQuarantined || entries[change.uuid] != nil else { throw .instanceNotFound(change.id) }
      quarantined.removeAll { $0.uuid == change.uuid }
      entries[change.uuid] = nil
      return nil
    default: break
    }
    guard var entry = try entry(change) else { return nil }
    let wiped = try Self.apply(part, to: &entry, id: change.id)
    entries[change.uuid] = entry
    return wiped
  }

  private static func apply(
    _ part: InstanceChange.Part, to entry: inout Entry, id: InstanceID
  ) throws(SDKError) -> CommitResult.Wiped? {
    switch part {
    case .create, .delete: return nil
    case .define(let definition): entry.instance.definition = definition
    case .identify(let identity): entry.instance.identity = identity
    case .raiseEpoch(let epoch):
      guard epoch > entry.instance.epoch else { throw .epochChanged(id) }
      entry.instance.epoch = epoch
    case .putValue(let key, let value, let limit):
      entry.storage[key] = value
      let bytes = entry.storage.reduce(0) { $0 + $1.key.utf8.count + JSONWriter.bytes(of: $1.value).count }
      guard bytes <= limit else { throw .storageFull(id, limit: limit) }
    case .deleteValue(let key): entry.storage[key] = nil
    case .wipe:
      entry.instance.storageEpoch += 1
      let wiped = CommitResult.Wiped(
        storage: entry.storage.count, tokens: StoredIdentity.tokenCount(in: entry.instance.identity), pushes: 0,
        storageEpoch: entry.instance.storageEpoch)
      entry.instance.identity = nil
      entry.storage = [:]
      return wiped
    }
    return nil
  }

  mutating func retain(_ retention: EventRetention, at time: Timestamp) {
    var kept: [InstanceUUID: Int] = [:]
    var remaining: [StoredEvent] = []
    for event in events.reversed() {
      if kept[event.uuid, default: 0] >= retention.maxCountPerInstance || event.time < time - retention.maxAge {
        dropped[event.uuid] = max(dropped[event.uuid] ?? 0, event.position)
      } else {
        kept[event.uuid, default: 0] += 1
        remaining.append(event)
      }
    }
    events = remaining.reversed()
  }
}
