import Cryptography
import FoundationEssentials
import JSONRPC
import SDKProtocol
import SQLite

/// The sealed form of events: a line with everything except the data, and a line with the data.
enum EventRow {
  /// The number of events that share a derived key, far below the limit for random nonces.
  private static let positionsPerKey: UInt64 = 1 << 20

  private static func withKey<Result>(
    _ position: UInt64, _ vault: Vault, _ body: (SymmetricKey) throws -> Result
  ) throws -> Result {
    try vault.withEventKey(at: position) { key in
      try body(DerivedKey.derive(from: key, purpose: "events \(position / positionsPerKey)"))
    }
  }

  private static func context(_ position: UInt64, _ uuid: InstanceUUID, _ time: Timestamp) -> AdditionalData {
    var context = AdditionalData("event.payload", of: uuid)
    context.append(position)
    context.append(time)
    return context
  }

  static func seal(_ event: StoredEvent, vault: Vault) throws -> Data {
    var head: JSONObject = [
      "id": .string(event.id.name), "kind": .string(event.kind.name), "type": .string(event.type.rawValue),
    ]
    head["service"] = event.service.map(JSON.string)
    head["operation"] = event.operation.map(JSON.string)
    head["audience"] = event.audience
    var plain = try StoredJSON.data(of: .object(head))
    plain.append(0x0A)
    plain.append(try StoredJSON.data(of: .object(event.data)))
    return try withKey(event.position, vault) {
      try Seal.seal(plain, under: $0, context(event.position, event.uuid, event.time))
    }
  }

  /// Returns the event of a row `position, instance, time, payload`; `nil` if it does not open.
  static func open(_ row: Row, vault: Vault) -> StoredEvent? {
    guard let position = row.unsigned(0), let uuid = row.text(1).map(InstanceUUID.init), let time = row.real(2),
      let payload = row.data(3)
    else { return nil }
    let moment = Timestamp(secondsSince1970: time)
    let opened = try? withKey(position, vault) { key in
      try Seal.open(payload, under: key, context(position, uuid, moment), what: "an event")
    }
    guard let plain = opened, let newline = plain.firstIndex(of: 0x0A),
      let head = StoredJSON.json(of: plain[..<newline]),
      let data = StoredJSON.json(of: plain[plain.index(after: newline)...])?.objectValue,
      let id = head["id"]?.stringValue.flatMap({ InstanceID($0) }), let kind = head["kind"]?.stringValue,
      let type = head["type"]?.stringValue.flatMap({ EventType(rawValue: $0) })
    else { return nil }
    return StoredEvent(
      position: position, uuid: uuid, id: id, kind: KindName(kind), time: moment, type: type,
      service: head["service"]?.stringValue, operation: head["operation"]?.stringValue,
      // Earlier versions wrote data of any size.
      data: plain.count > EventData.maximumBytes ? EventData.clipped(data) : data,
      audience: head["audience"])
  }

  /// Returns the events of the rows that open, and the positions of the rows that do not.
  static func open(_ rows: [Row], vault: Vault) -> (events: [StoredEvent], damaged: [UInt64]) {
    var found: (events: [StoredEvent], damaged: [UInt64]) = ([], [])
    for row in rows {
      if let event = open(row, vault: vault) {
        found.events.append(event)
      } else {
        found.damaged.append(row.unsigned(0) ?? 0)
      }
    }
    return found
  }
}
