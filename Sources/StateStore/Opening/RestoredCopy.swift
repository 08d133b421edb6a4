import GRDB
public import JSONRPC
import SDKProtocol

/// What an instance is to have in the place of the identity that a restored copy holds.
public struct WithheldIdentity: Sendable {
  /// The identity without what must not be used again.
  public var identity: JSON
  /// What is told of it.
  public var events: [InstanceChange.NewEvent]

  /// An identity in the place of another.
  public init(identity: JSON, events: [InstanceChange.NewEvent] = []) {
    self.identity = identity
    self.events = events
  }
}

/// Looks at the definition and the identity of an instance of a restored copy: since the copy was made, what it holds
/// may have been spent. `nil` leaves the identity as it is.
public typealias Withholding = @Sendable (_ definition: JSON, _ identity: JSON) -> WithheldIdentity?

/// Makes a copy that has taken the place of the state a state of its own, once, in the transaction that opens it.
enum RestoredCopy {
  /// Every instance gets another data key and a storage epoch that no client has seen; an instance that does not open
  /// stays as it is and is quarantined later.
  static func settle(_ vault: Vault, _ withhold: Withholding, at time: Timestamp, _ db: Database) throws {
    let state = try StateLoader.load(db, vault: vault).state
    let storage = StorageReader(vault: vault)
    // Far more than a state sees wipes, so that copies of one state don't meet.
    let step = UInt64.random(in: 1 << 24..<1 << 32)
    for instance in state.instances {
      guard let values = try? values(of: instance.uuid, storage, db) else { continue }
      let withheld = instance.identity.flatMap { withhold(instance.definition, $0) }
      var parts: [InstanceChange.Part] = [.raiseEpoch(to: instance.epoch &+ 1), .wipe]
      if let identity = withheld?.identity ?? instance.identity { parts.append(.identify(identity)) }
      parts += values.map { .putValue(key: $0.key, value: $0.value, limit: .max) }
      parts += instance.pushes.map { .putPush(id: $0.id, $0.value) }
      let kind = KindName(instance.definition["kind"]?.stringValue ?? "")
      let change = InstanceChange(
        uuid: instance.uuid, id: instance.id, kind: kind, parts: parts, events: withheld?.events ?? [])
      _ = try ChangeWriter.apply(change, at: time, vault: vault, epochStep: step, db)
    }
    try MetaTable.setCopied(nil, db)
  }

  private static func values(
    of uuid: InstanceUUID, _ storage: StorageReader, _ db: Database
  ) throws -> [(key: String, value: JSON)] {
    try storage.keys(of: uuid, db).compactMap { key, _ in
      try storage.value(of: uuid, key: key, db)?.value.map { (key, $0) }
    }
  }
}
