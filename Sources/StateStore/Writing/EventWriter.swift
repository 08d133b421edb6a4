import GRDB
import SDKProtocol

/// The writing of the events of a change.
struct EventWriter {
  let db: Database
  let vault: Vault

  func write(_ change: InstanceChange, at time: Timestamp, wiped: CommitResult.Wiped?) throws -> [StoredEvent] {
    guard !change.events.isEmpty else { return [] }
    var position = try EventLog.newest(db)
    return try change.events.map { new in
      position &+= 1
      let data = new.type == .identityWiped ? wiped?.data(over: new.data, instance: change.uuid) : nil
      let event = StoredEvent(
        position: position, uuid: change.uuid, id: change.id, kind: change.kind, time: time, type: new.type,
        service: new.service, operation: new.operation, data: EventData.clipped(data ?? new.data),
        audience: new.audience)
      let insert = try db.cachedStatement(
        sql: "INSERT INTO event (position, instance, time, payload) VALUES (?, ?, ?, ?)")
      try insert.execute(arguments: [
        position.stored, event.uuid.description, time.secondsSince1970, try EventRow.seal(event, vault: vault),
      ])
      return event
    }
  }
}
