import FoundationEssentials
import SDKProtocol
import SQLite

/// The decrypted rows of an instance, which a change modifies and writes back.
struct OpenInstance {
  let uuid: InstanceUUID
  let id: String
  let createdAt: Timestamp
  var epoch: UInt64
  var storageEpoch: UInt64
  var key: DataKey
  var anchor: Anchor
  /// The definition as JSON text.
  var definition: Data
  /// The identity as JSON text; empty without an identity.
  var identity: Data
  /// The push registrations. The sealed identity is bound to all of them.
  var pushes: [SealedRow]

  /// Creates an instance with a new key.
  init(_ instance: StoredInstance, slot: Int64, vault: Vault) throws {
    uuid = instance.uuid
    id = instance.id.name
    createdAt = instance.createdAt
    epoch = instance.epoch
    storageEpoch = instance.storageEpoch
    key = try DataKey(newFor: .instance(uuid, storageEpoch: storageEpoch), slot: slot, vault: vault)
    anchor = Anchor()
    definition = try StoredJSON.data(of: instance.definition)
    identity = try instance.identity.map(StoredJSON.data) ?? Data()
    pushes = []
  }

  /// Opens the instance of a row.
  init(opening row: InstanceRow, pushes: [SealedRow], vault: Vault) throws(SealError) {
    let keys = try Self.keys(of: row, vault: vault)
    uuid = row.uuid
    id = row.id
    createdAt = Timestamp(secondsSince1970: row.createdAt)
    epoch = row.epoch
    storageEpoch = row.storageEpoch
    key = keys.key
    anchor = keys.anchor
    definition = Data()
    identity = Data()
    self.pushes = pushes
    definition = try Seal.open(
      row.definition, under: key.key, context("instance.definition"), what: "its definition")
    identity = try Seal.open(
      row.identity, under: key.key, identityContext, what: "its identity or the list of its push registrations")
  }

  /// Reads and opens an instance; `nil` if there is none.
  static func fetch(_ uuid: InstanceUUID, _ vault: Vault, _ db: Database) throws -> OpenInstance? {
    guard let row = try InstanceRow.fetch(uuid, db) else { return nil }
    let select = try db.cachedStatement(
      sql: SealedRow.Table.push.selection("NULL, NULL") + " WHERE instance = ?")
    // A damaged registration is left out, and the instance then does not open.
    let pushes = try Row.fetchAll(select, arguments: [uuid.description]).compactMap {
      SealedRow($0, of: .push, storageEpoch: row.storageEpoch)
    }
    return try OpenInstance(opening: row, pushes: pushes, vault: vault)
  }

  /// Returns the key of an instance, and the anchor that authenticates its other rows.
  static func keys(of row: InstanceRow, vault: Vault) throws(SealError) -> (key: DataKey, anchor: Anchor) {
    guard let wrapped = row.wrapped, let sealed = row.anchor else { throw SealError(what: "its data key, missing,") }
    let key = try DataKey(
      opening: wrapped, of: .instance(row.uuid, storageEpoch: row.storageEpoch), slot: row.slot, vault: vault)
    return (key, try Anchor(opening: sealed, under: key, of: row.uuid))
  }

  func sealedDefinition() throws(SealError) -> Data {
    try Seal.seal(definition, under: key.key, context("instance.definition"))
  }

  func sealedIdentity() throws(SealError) -> Data {
    try Seal.seal(identity, under: key.key, identityContext)
  }

  func sealedAnchor() throws(SealError) -> Data { try anchor.sealed(under: key, of: uuid) }

  /// The context of the identity. Without push registrations it is the same as in schema 1, which had none.
  private var identityContext: AdditionalData {
    var context = context("instance.identity")
    for push in pushes.sorted(by: { $0.tag.lexicographicallyPrecedes($1.tag) }) {
      context.append(field: push.tag)
      context.append(push.revision)
    }
    return context
  }

  private func context(_ column: String) -> AdditionalData {
    var context = AdditionalData(column, of: uuid)
    context.append(id)
    context.append(createdAt)
    context.append(epoch)
    context.append(storageEpoch)
    context.append(anchor.revision)
    return context
  }

  /// Returns a new row of the instance with this name.
  func row(_ table: SealedRow.Table, _ name: String, numbers: [UInt64]) -> SealedRow {
    SealedRow(table, of: uuid, scope: storageEpoch, tag: key.tag(of: name, in: table), numbers: numbers)
  }

  /// The instance for the daemon; `nil` if its ID or a sealed JSON text is invalid.
  var stored: StoredInstance? {
    guard let id = InstanceID(id), let definition = StoredJSON.json(of: definition) else { return nil }
    let identity = identity.isEmpty ? nil : StoredJSON.json(of: identity)
    guard identity != nil || self.identity.isEmpty else { return nil }
    return StoredInstance(
      uuid: uuid, id: id, createdAt: createdAt, definition: definition, identity: identity, epoch: epoch,
      storageEpoch: storageEpoch)
  }
}

/// The message for the operator about an instance that does not open.
enum InstanceProblem {
  static func text(_ what: String) -> String {
    "Stored data of this instance does not open (\(what) was damaged, moved or put back); restore a backup, or delete "
      + "the instance and create it again."
  }
}
