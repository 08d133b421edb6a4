import DequeModule
import JSONRPC
import SDKProtocol
import StateStore

/// The access of deleted instances, for as long as their events are kept. The bytes of each entry, of each user's
/// entries and of all entries are bounded. The oldest entries are evicted first; then only admins see the events of
/// their instances.
struct DeletedInstances {
  struct Entry {
    let id: InstanceID
    let kind: KindName
    let access: InstanceAccess
    let bytes: Int
  }

  /// The maximum bytes of rules and labels in an entry.
  static let bytesPerEntry = 32 << 10
  /// The maximum total bytes of the entries of one user other than root.
  static let bytesPerOwner = 1 << 20
  /// The maximum bytes of all entries.
  static let bytesInAll = 16 << 20
  /// The number of bytes that a smaller entry counts as.
  private static let leastBytes = 4 << 10

  private struct Share {
    var order = Deque<InstanceUUID>()
    var bytes = 0
  }

  private(set) var entries: [InstanceUUID: Entry] = [:]
  private var shares: [UInt32: Share] = [:]
  private var latest: [InstanceID: InstanceUUID] = [:]
  /// The bytes of all entries.
  private(set) var bytes = 0

  subscript(uuid: InstanceUUID) -> Entry? { entries[uuid] }

  /// Returns the kind of the latest deleted instance of this name.
  func kind(of id: InstanceID) -> KindName? { latest[id].flatMap { entries[$0]?.kind } }

  /// The names in the rules of all entries, by owner.
  var names: [UInt32: Set<SystemName>] {
    entries.values.reduce(into: [:]) { $0[$1.access.owner, default: []].formUnion($1.access.names) }
  }

  /// Adds an instance.
  ///
  /// - Parameter user: the user that its owner counts for.
  mutating func add(
    _ uuid: InstanceUUID, _ id: InstanceID, _ kind: KindName, _ access: InstanceAccess, of user: UInt32
  ) {
    guard entries[uuid] == nil else { return }
    let access = access.bounded(to: Self.bytesPerEntry)
    let entry = Entry(id: id, kind: kind, access: access, bytes: max(Self.leastBytes, access.byteCount))
    entries[uuid] = entry
    latest[id] = uuid
    bytes += entry.bytes
    shares[user, default: Share()].order.append(uuid)
    shares[user]?.bytes += entry.bytes
    if user != 0 {
      while let share = shares[user], share.bytes > Self.bytesPerOwner { removeOldest(of: user) }
    }
    while bytes > Self.bytesInAll, let largest = shares.max(by: { $0.value.bytes < $1.value.bytes }) {
      removeOldest(of: largest.key)
    }
  }

  private mutating func removeOldest(of user: UInt32) {
    guard let uuid = shares[user]?.order.popFirst(), let entry = entries.removeValue(forKey: uuid) else { return }
    bytes -= entry.bytes
    shares[user]?.bytes -= entry.bytes
    if shares[user]?.order.isEmpty == true { shares[user] = nil }
    if latest[entry.id] == uuid { latest[entry.id] = nil }
  }

  /// Adds an instance from its last event, which holds its access.
  mutating func add(_ event: StoredEvent, _ names: any NameDirectory) {
    guard let audience = event.audience,
      let access = try? JSONValueDecoder.decode(InstanceAccess.self, from: audience)
    else { return }
    add(event.uuid, event.id, event.kind, access, of: names.user(of: access.owner))
  }
}
