import SDKProtocol
import SQLite

/// The loading of all instances. Instances that do not open are quarantined one by one.
struct StateLoader {
  private var state = StoredState()
  private var pushes: [InstanceUUID: [Row]] = [:]
  private var outbox: [InstanceUUID: [StoredOutboxEntry]] = [:]
  private var unreadable: [InstanceUUID: Int] = [:]

  /// Returns the state, and what it omits: the number of unreadable outbox entries of each instance, and the number of
  /// deleted instances whose last event is damaged.
  static func load(
    _ db: Database, vault: Vault
  ) throws -> (state: StoredState, unreadable: [InstanceUUID: Int], damaged: Int) {
    var loader = StateLoader()
    try loader.readOutbox(db, vault)
    for row in try Row.fetchAll(db, sql: SealedRow.Table.push.selection()) {
      if let uuid = row.text(2) { loader.pushes[InstanceUUID(uuid), default: []].append(row) }
    }
    let rows = try Row.fetchCursor(db, sql: InstanceRow.selection + " ORDER BY i.id")
    while let row = try rows.next() { loader.add(row, vault) }
    // A payload that is too long for an audience is left out.
    let last = EventRow.open(try EventLog.deleted(db).filter { $0.data(3) != nil }, vault: vault)
    loader.state.deleted = last.events.filter { $0.audience != nil }.sorted { $0.position < $1.position }
    return (loader.state, loader.unreadable, last.damaged.count)
  }

  private mutating func readOutbox(_ db: Database, _ vault: Vault) throws {
    let rows = try Row.fetchCursor(db, sql: OutboxRow.selection)
    while let row = try rows.next() {
      guard let uuid = row.text(2).map(InstanceUUID.init) else { continue }
      if let entry = try? OutboxRow(row, vault).opened() {
        outbox[uuid, default: []].append(entry)
      } else {
        unreadable[uuid, default: 0] += 1
      }
    }
  }

  private mutating func add(_ row: Row, _ vault: Vault) {
    guard let parsed = InstanceRow(row) else { return quarantine(row, problem: "its row") }
    do throws(SealError) {
      // A damaged registration is left out, and the instance then does not open.
      let sealed = (pushes[parsed.uuid] ?? []).compactMap {
        SealedRow($0, of: .push, storageEpoch: parsed.storageEpoch)
      }
      let opened = try OpenInstance(opening: parsed, pushes: sealed, vault: vault)
      guard var instance = opened.stored else { return quarantine(row, problem: "its definition") }
      for push in sealed {
        instance.pushes.append(
          StoredPush(id: try push.openedName(under: opened.key), value: try push.openedValue(under: opened.key)))
      }
      instance.pushes.sort { $0.id < $1.id }
      instance.outbox = (outbox[parsed.uuid] ?? []).sorted { $0.id < $1.id }
      state.instances.append(instance)
    } catch {
      quarantine(row, problem: error.what)
    }
  }

  private mutating func quarantine(_ row: Row, problem: String) {
    guard let uuid = row.text(0) else { return }
    // An invalid name was written by another program. The instance gets another one, so that it can be listed and
    // deleted.
    guard let id = row.text(1).flatMap(InstanceID.init) ?? InstanceID("damaged-\(uuid.prefix(8))") else { return }
    state.quarantined.append(
      QuarantinedInstance(
        uuid: InstanceUUID(uuid), id: id, problem: InstanceProblem.text(problem),
        createdAt: row.real(2).map { Timestamp(secondsSince1970: $0) }))
  }
}
