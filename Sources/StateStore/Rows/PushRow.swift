import Crypto
import GRDB

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a push registration's row is known by; its id and value are sealed.
///
/// The instance's own row is bound to all of them: an instance from which one was removed, or to which an older one was
/// put back, does not open.
struct PushRow: Equatable {
  static let columns = "tag, revision"

  var tag: Data
  /// The revision of the instance's row that it was written with.
  var revision: UInt64

  init(tag: Data, revision: UInt64) {
    self.tag = tag
    self.revision = revision
  }

  /// From a row that begins with `columns`.
  init?(_ row: Row) {
    guard let tag = row.data(0), let revision = row.unsigned(1) else { return nil }
    self.tag = tag
    self.revision = revision
  }

  /// What an id is found by: the same for the same id, and telling nothing about it.
  static func tag(of id: String, _ key: DataKey) -> Data {
    let names = DerivedKey.derive(from: key.key, purpose: "push names")
    return Data(HMAC<SHA256>.authenticationCode(for: Array(id.utf8), using: names).prefix(16))
  }

  /// The rows of an instance. One that can't be read is left out, which the instance's row then shows.
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
