import Cryptography
import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The unsealed columns of a push registration's row. Its ID and value are sealed.
///
/// The instance's own row is bound to all registrations: if one was removed or rolled back, the instance does not open.
struct PushRow: Equatable {
  static let columns = "tag, revision"

  var tag: Data
  /// The revision of the instance's row with which the registration was written.
  var revision: UInt64

  init(tag: Data, revision: UInt64) {
    self.tag = tag
    self.revision = revision
  }

  /// Reads a row that begins with `columns`; `nil` if it is damaged.
  init?(_ row: Row) {
    guard let tag = row.data(0), let revision = row.unsigned(1) else { return nil }
    self.tag = tag
    self.revision = revision
  }

  /// Returns the lookup tag of an ID. Equal IDs have equal tags, and a tag reveals nothing about its ID.
  static func tag(of id: String, _ key: DataKey) -> Data {
    let names = DerivedKey.derive(from: key.key, purpose: "push names")
    return Data(names.authenticationCode(of: Array(id.utf8)).prefix(16))
  }

  /// Returns the registrations of an instance. An unreadable one is omitted, and the instance then does not open.
  static func fetch(of uuid: InstanceUUID, _ db: Database) throws -> [PushRow] {
    let statement = try db.cachedStatement(sql: "SELECT \(columns) FROM push WHERE instance = ?")
    return try Row.fetchAll(statement, arguments: [uuid.description]).compactMap(PushRow.init)
  }

  func context(_ column: String, of uuid: InstanceUUID, storageEpoch: UInt64) -> AdditionalData {
    var context = AdditionalData(column, of: uuid)
    context.append(storageEpoch)
    context.append(field: tag)
    context.append(revision)
    return context
  }
}
