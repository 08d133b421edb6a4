import DequeModule
import JSONRPC
import SDKProtocol
import StateStore

/// Who had to do with instances that are gone, as long as their events are kept; the latest of them.
struct DepartedInstances {
  struct Entry {
    let id: InstanceID
    let kind: KindName
    let standing: InstanceStanding
  }

  private(set) var entries: [InstanceUUID: Entry] = [:]
  private var order = Deque<InstanceUUID>()
  private static let capacity = 4096

  subscript(uuid: InstanceUUID) -> Entry? { entries[uuid] }

  /// The kind of the latest of this name.
  func kind(of id: InstanceID) -> KindName? {
    order.last { entries[$0]?.id == id }.flatMap { entries[$0]?.kind }
  }

  mutating func add(_ uuid: InstanceUUID, _ id: InstanceID, _ kind: KindName, _ standing: InstanceStanding) {
    guard entries.updateValue(Entry(id: id, kind: kind, standing: standing), forKey: uuid) == nil else { return }
    order.append(uuid)
    if order.count > Self.capacity { entries[order.removeFirst()] = nil }
  }

  /// Takes one from the last event of an instance.
  mutating func add(_ event: StoredEvent) {
    guard let audience = event.audience,
      let standing = try? JSONValueDecoder.decode(InstanceStanding.self, from: audience)
    else { return }
    add(event.uuid, event.id, event.kind, standing)
  }
}
