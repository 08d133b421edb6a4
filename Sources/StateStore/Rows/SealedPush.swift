import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A push registration as stored in the database.
struct SealedPush {
  static let selection = "SELECT \(PushRow.columns), name, value, instance FROM push"

  var row: PushRow
  var uuid: InstanceUUID
  var name: Data
  var value: Data

  init?(_ row: Row) {
    guard let known = PushRow(row), let name = row.data(2), let value = row.data(3), let uuid = row.text(4) else {
      return nil
    }
    self.row = known
    self.name = name
    self.value = value
    self.uuid = InstanceUUID(uuid)
  }

  func opened(in instance: OpenInstance) throws(SealError) -> StoredPush {
    let problem = "a push registration"
    let (uuid, epoch, key) = (instance.uuid, instance.storageEpoch, instance.key.key)
    let id = try Seal.open(
      name, under: key, row.context("push.name", of: uuid, storageEpoch: epoch), what: problem)
    let text = try Seal.open(
      value, under: key, row.context("push.value", of: uuid, storageEpoch: epoch), what: problem)
    guard let value = StoredJSON.json(of: text) else { throw SealError(what: problem) }
    return StoredPush(id: String(decoding: id, as: UTF8.self), value: value)
  }
}

/// The message for the operator about an instance that does not open.
enum InstanceProblem {
  static func text(_ what: String) -> String {
    "Stored data of this instance does not open (\(what) was damaged, moved or put back); restore a backup, or delete "
      + "the instance and create it again."
  }
}
