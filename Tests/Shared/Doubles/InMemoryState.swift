import JSONRPC
package import SDKProtocol

@testable package import StateStore

/// The contents of an `InMemoryStateStore`. It is a value, so that a failed change is undone by discarding the modified
/// value.
package struct InMemoryState: Sendable {
  private struct Entry {
    var instance: StoredInstance
    var storage: [String: JSON] = [:]
  }

  private var entries: [InstanceUUID: Entry] = [:]
  package private(set) var quarantined: [QuarantinedInstance] = []
  private var events: [StoredEvent] = []
  private var newest: UInt64 = 0
  private var dropped: [InstanceUUID: UInt64] = [:]
  private var lossNumbers: [InstanceUUID: UInt64] = [:]

  /// Creates empty contents.
  package init() {}

  package var instances: [StoredInstance] { entries.values.map(\.instance).sorted { $0.id < $1.id } }

  package func events(after position: UInt64, limit: Int) -> [StoredEvent] {
    Array(events.lazy.filter { $0.position > position }.prefix(max(0, limit)))
  }

  package func page(after position: UInt64, limit: Int, of instances: Set<InstanceUUID>?) -> EventPage {
    let later = events.lazy.filter { $0.position > position && instances?.contains($0.uuid) != false }
    let found = Array(later.prefix(max(0, limit)))
    return EventPage(
      events: found, reached: found.count < limit ? newest : found.last?.position ?? position, newest: newest,
      lost: dropped.filter { $0.value > position }, lossNumbers: lossNumbers)
  }

  /// The last events of deleted instances that contain access rules, oldest first.
  package var deleted: [StoredEvent] {
    let last = Dictionary(events.map { ($0.uuid, $0) }, uniquingKeysWith: { $1 })
    return last.values.filter { entries[$0.uuid] == nil && $0.audience != nil }.sorted { $0.position < $1.position }
  }

  package func value(of uuid: InstanceUUID, key: String) -> StoredValue? {
    entries[uuid].map { StoredValue(value: $0.storage[key], storageEpoch: $0.instance.storageEpoch) }
  }

  package func keys(of uuid: InstanceUUID) -> [(key: String, bytes: Int)] {
    (entries[uuid]?.storage ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, JSONWriter.bytes(of: $0.value).count) }
  }

  package func page(of uuid: InstanceUUID, after key: String?, limit: Int) -> StoredKeys? {
    entries[uuid].map { entry in
      let later = keys(of: uuid).filter { found in key.map { $0 < found.key } ?? true }
      return StoredKeys(keys: Array(later.prefix(max(0, limit))), storageEpoch: entry.instance.storageEpoch)
    }
  }

  /// Makes an instance unreadable, as a damaged row would.
  package mutating func quarantine(_ uuid: InstanceUUID, problem: String) {
    guard let entry = entries.removeValue(forKey: uuid) else { return }
    quarantined.append(QuarantinedInstance(uuid: uuid, id: entry.instance.id, problem: problem))
  }

  package mutating func apply(_ change: InstanceChange, at time: Timestamp) throws(SDKError) -> CommitResult {
    try check(change)
    var wipe: WipeCount?
    for part in change.parts { try apply(part, of: change, &wipe) }
    let wiped = wipe?.wiped
    let written = change.events.map { event in
      newest += 1
      let data = event.type == .identityWiped ? wiped?.data(over: event.data, instance: change.uuid) : nil
      return StoredEvent(
        position: newest, uuid: change.uuid, id: change.id, kind: change.kind, time: time, type: event.type,
        service: event.service, operation: event.operation, data: EventData.clipped(data ?? event.data),
        audience: event.audience)
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
    _ part: InstanceChange.Part, of change: InstanceChange, _ wipe: inout WipeCount?
  ) throws(SDKError) {
    switch part {
    case .create(let instance):
      let isTaken =
        entries.values.contains { $0.instance.id == instance.id } || quarantined.contains { $0.id == instance.id }
      guard !isTaken, entries[instance.uuid] == nil, instance.uuid == change.uuid else {
        throw .instanceExists(instance.id)
      }
      var created = instance
      (created.pushes, created.outbox) = ([], [])
      for push in instance.pushes { try Self.put(push, in: &created) }
      for entry in instance.outbox { try Self.put(entry, in: &created) }
      entries[instance.uuid] = Entry(instance: created)
      return
    case .delete:
      let isQuarantined = quarantined.contains { $0.uuid == change.uuid }
      guard isQuarantined || entries[change.uuid] != nil else { throw .instanceNotFound(change.id) }
      quarantined.removeAll { $0.uuid == change.uuid }
      entries[change.uuid] = nil
      return
    default: break
    }
    guard var entry = try entry(change) else { return }
    try Self.apply(part, to: &entry, id: change.id, &wipe)
    entries[change.uuid] = entry
  }

  private static func apply(
    _ part: InstanceChange.Part, to entry: inout Entry, id: InstanceID, _ wipe: inout WipeCount?
  ) throws(SDKError) {
    switch part {
    case .create, .delete: break
    case .define(let definition): entry.instance.definition = definition
    case .identify(let identity):
      entry.instance.identity = identity
      wipe?.identified(as: identity)
    case .raiseEpoch(let epoch):
      guard epoch > entry.instance.epoch else { throw .epochChanged(id) }
      entry.instance.epoch = epoch
    case .putValue(let key, let value, let limit):
      entry.storage[key] = value
      let bytes = entry.storage.reduce(0) { $0 + $1.key.utf8.count + JSONWriter.bytes(of: $1.value).count }
      guard bytes <= limit else { throw .storageFull(id, limit: limit) }
    case .deleteValue(let key): entry.storage[key] = nil
    case .putPush(let id, let value): try put(StoredPush(id: id, value: value), in: &entry.instance)
    case .deletePush(let id): entry.instance.pushes.removeAll { $0.id == id }
    case .putOutbox(let id, let value, let deadline):
      try put(StoredOutboxEntry(id: id, value: value, deadline: deadline), in: &entry.instance)
    case .deleteOutbox(let id): entry.instance.outbox.removeAll { $0.id == id }
    case .wipe:
      entry.instance.storageEpoch += 1
      wipe = WipeCount(
        of: entry.instance.identity, storage: entry.storage.count, pushes: entry.instance.pushes.count,
        storageEpoch: entry.instance.storageEpoch)
      entry.instance.identity = nil
      entry.instance.pushes = []
      entry.storage = [:]
    }
  }

  private static func put(_ push: StoredPush, in instance: inout StoredInstance) throws(SDKError) {
    instance.pushes.removeAll { $0.id == push.id }
    guard instance.pushes.count < StoredPush.maximumCount else { throw .tooManyPushes(instance.id) }
    instance.pushes.append(push)
    instance.pushes.sort { $0.id < $1.id }
  }

  private static func put(_ entry: StoredOutboxEntry, in instance: inout StoredInstance) throws(SDKError) {
    instance.outbox.removeAll { $0.id == entry.id }
    guard instance.outbox.count < StoredOutboxEntry.maximumCount else { throw .outboxFull(instance.id) }
    instance.outbox.append(entry)
    instance.outbox.sort { $0.id < $1.id }
  }

  package mutating func retain(_ retention: EventRetention, at time: Timestamp) {
    var kept: [InstanceUUID: Int] = [:]
    var remaining: [StoredEvent] = []
    let number = (lossNumbers.values.max() ?? 0) + 1
    for event in events.reversed() {
      if kept[event.uuid, default: 0] >= retention.maxCountPerInstance || event.time < time - retention.maxAge {
        dropped[event.uuid] = max(dropped[event.uuid] ?? 0, event.position)
        lossNumbers[event.uuid] = number
      } else {
        kept[event.uuid, default: 0] += 1
        remaining.append(event)
      }
    }
    events = remaining.reversed()
  }
}
