import Cryptography
import FoundationEssentials
import JSONRPC
import SDKProtocol
import SQLite

/// A row with a sealed name and a sealed value: a push registration, a value in storage, or an outbox entry.
///
/// `context` lists what authenticates the two. A row that was changed, or moved to another instance, table or tag, does
/// not open. Whether a row is missing, or an older version of it was put back, shows in another place for each table:
///
/// - `push`: the identity of the instance is bound to the tag and the revision of each registration.
/// - `storage`: the anchor of the instance's key has a digest of all rows.
/// - `outbox`: the row is bound to the revision in the anchor of its own key. A missing entry is not noticed.
struct SealedRow {
  /// The tables that have such rows.
  enum Table: String {
    case push, storage, outbox

    /// The columns with numbers.
    fileprivate var numbers: [String] {
      switch self {
      case .push: ["revision"]
      case .storage: ["revision", "key_bytes", "value_bytes"]
      case .outbox: ["slot", "deadline"]
      }
    }

    /// The columns in clear.
    var columns: String { (["instance", "tag"] + numbers).joined(separator: ", ") }

    /// The words for a row in a message to the operator.
    fileprivate var word: String {
      switch self {
      case .push: "a push registration"
      case .storage: "a value in storage"
      case .outbox: "an outbox entry"
      }
    }
  }

  let table: Table
  let uuid: InstanceUUID
  /// The storage epoch of the instance. For an outbox entry: the slot of its own key.
  let scope: UInt64
  /// The lookup tag. Equal names have equal tags, and a tag reveals nothing about its name.
  let tag: Data
  /// The numbers of the row's columns. For an outbox entry: the bits of its deadline, and the revision in the anchor of
  /// its key.
  let numbers: [UInt64]
  /// The sealed name; `nil` if it was not read.
  let name: Data?
  /// The sealed value; `nil` if it was not read.
  let value: Data?

  init(
    _ table: Table, of uuid: InstanceUUID, scope: UInt64, tag: Data, numbers: [UInt64], name: Data? = nil,
    value: Data? = nil
  ) {
    self.table = table
    self.uuid = uuid
    self.scope = scope
    self.tag = tag
    self.numbers = numbers
    self.name = name
    self.value = value
  }

  /// Reads a row of `Table.selection`, of a push registration or of a value in storage; `nil` if it is damaged.
  ///
  /// - Parameter storageEpoch: the storage epoch of the instance.
  init?(_ row: Row, of table: Table, storageEpoch: UInt64) {
    let numbers = table.numbers.indices.compactMap { row.unsigned(4 + $0) }
    guard let uuid = row.text(2), let tag = row.data(3), numbers.count == table.numbers.count else { return nil }
    self.init(
      table, of: InstanceUUID(uuid), scope: storageEpoch, tag: tag, numbers: numbers, name: row.data(0),
      value: row.data(1))
  }

  /// The number of the change that wrote the row, of a push registration or of a value in storage.
  var revision: UInt64 { numbers.first ?? 0 }

  /// The data that authenticates a sealed column, or, without a column, the row in the digest of the storage.
  func context(_ column: String? = nil) -> AdditionalData {
    var context = AdditionalData(column.map { "\(table.rawValue).\($0)" } ?? table.rawValue, of: uuid)
    context.append(scope)
    context.append(field: tag)
    for number in numbers { context.append(number) }
    return context
  }

  func openedName(under key: DataKey) throws(SealError) -> String {
    String(decoding: try open(name, "name", key), as: UTF8.self)
  }

  func openedValue(under key: DataKey) throws(SealError) -> JSON {
    guard let json = StoredJSON.json(of: try open(value, "value", key)) else { throw SealError(what: table.word) }
    return json
  }

  private func open(_ sealed: Data?, _ column: String, _ key: DataKey) throws(SealError) -> Data {
    guard let sealed else { throw SealError(what: table.word) }
    return try Seal.open(sealed, under: key.key, context(column), what: table.word)
  }

  /// Seals a name and a value, and writes the row in place of the one with the same tag.
  func write(name: Data, value: Data, under key: DataKey, _ db: Database) throws {
    let sealedName = try Seal.seal(name, under: key.key, context("name"))
    let sealedValue = try Seal.seal(value, under: key.key, context("value"))
    var values: [DatabaseValue] = [.text(uuid.description), .blob(tag)]
    if table == .outbox {
      values += [.integer(scope.stored), .real(Double(bitPattern: numbers.first ?? 0))]
    } else {
      values += numbers.map { DatabaseValue.integer($0.stored) }
    }
    values += [.blob(sealedName), .blob(sealedValue)]
    let places = values.map { _ in "?" }.joined(separator: ", ")
    let statement = try db.cachedStatement(
      sql: "REPLACE INTO \(table.rawValue) (\(table.columns), name, value) VALUES (\(places))")
    try statement.execute(arguments: values)
  }
}

extension SealedRow.Table {
  /// Returns the beginning of a query for rows.
  ///
  /// - Parameter sealed: the columns of the name and of the value, with NULL in place of one that is not needed.
  func selection(_ sealed: String = "name, value") -> String { "SELECT \(sealed), \(columns) FROM \(rawValue)" }

  /// Deletes the row of an instance with this tag, if it exists.
  func delete(_ tag: Data, of uuid: InstanceUUID, _ db: Database) throws {
    let statement = try db.cachedStatement(sql: "DELETE FROM \(rawValue) WHERE instance = ? AND tag = ?")
    try statement.execute(arguments: [uuid.description, tag])
  }

  /// Deletes all rows of an instance and returns their number.
  func deleteAll(of uuid: InstanceUUID, _ db: Database) throws -> Int {
    try db.cachedStatement(sql: "DELETE FROM \(rawValue) WHERE instance = ?").execute(arguments: [uuid.description])
    return db.changesCount
  }
}

extension DataKey {
  /// Returns the lookup tag of a name in a table of the instance.
  func tag(of name: String, in table: SealedRow.Table) -> Data {
    let names = DerivedKey.derive(from: key, purpose: "\(table.rawValue) names")
    return Data(names.authenticationCode(of: Array(name.utf8)).prefix(16))
  }

  /// The key for the digest of the instance's storage.
  var storageDigestKey: AuthenticationKey {
    AuthenticationKey(DerivedKey.derive(from: key, purpose: "storage digest"))
  }
}

extension Anchor {
  /// Adds a row to the storage.
  mutating func add(_ row: SealedRow, _ digest: AuthenticationKey) {
    storageBytes &+= row.bytes
    storageDigest.toggle(row.context(), key: digest)
  }

  /// Removes a row of the storage. Returns false if it is larger than the whole storage.
  mutating func remove(_ row: SealedRow, _ digest: AuthenticationKey) -> Bool {
    guard row.bytes <= storageBytes else { return false }
    storageBytes -= row.bytes
    storageDigest.toggle(row.context(), key: digest)
    return true
  }
}

extension SealedRow {
  /// The size of a value in storage, in bytes.
  var valueBytes: UInt64 { numbers.last ?? 0 }

  /// The size of a storage row's key and value together, in bytes.
  fileprivate var bytes: UInt64 { numbers.dropFirst().reduce(0, &+) }
}
