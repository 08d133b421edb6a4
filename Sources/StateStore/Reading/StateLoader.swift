import SDKProtocol
import SQLite

/// The loading of all instances. Instances that do not open are quarantined one by one.
struct StateLoader {
  private var state = StoredState()
  private var pushes: [InstanceUUID: [SealedPush]] = [:]
  private var outbox: [InstanceUUID: [StoredOutboxEntry]] = [:]
  private var unreadable: [InstanceUUID: Int] = [:]

  /// Returns the state, and what it omits: the number of unreadable outbox entries of each instance, and the number of
  /// deleted instances whose last event is damaged.
  static func load(
    _ db: Database, vault: Vault
  ) throws -> (state: StoredState, unreadable: [InstanceUUID: Int], damaged: Int) {
    var loader = StateLoader()
    try loader.readOutbox(db, vault)
    for row in try Row.fetchAll(db, sql: SealedPush.selection) {
      // An unreadable registration is missing when its instance is opened, which then fails.
      if let push = SealedPush(row) { loader.pushes[push.uuid, default: []].append(push) }
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
      guard let uuid = row.text(1).map(InstanceUUID.init) else { continue }
      if let entry = try? OutboxRow(row)?.opened(vault) {
        outbox[uuid, default: []].append(entry)
      } else {
        unreadable[uuid, default: 0] += 1
      }
    }
  }

  private mutating func add(_ row: Row, _ vault: Vault) {
    guard let parsed = InstanceRow(row) else { return quarantine(row, problem: "its row") }
    do throws(SealError) {
      let sealed = pushes[parsed.uuid] ?? []
      let opened = try OpenInstance(opening: parsed, pushes: sealed.map(\.row), vault: vault)
      guard var instance = opened.stored else { return quarantine(row, problem: "its definition") }
      for push in sealed { instance.pushes.append(try push.opened(in: opened)) }
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
