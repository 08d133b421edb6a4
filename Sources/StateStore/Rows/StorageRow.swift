import Cryptography
import SQLite

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The unsealed columns of a row of an instance's storage. Its key and value are sealed.
struct StorageRow {
  var tag: Data
  var revision: UInt64
  var keyBytes: UInt64
  var valueBytes: UInt64

  static let columns = "tag, revision, key_bytes, value_bytes"

  init(tag: Data, revision: UInt64, keyBytes: Int, valueBytes: Int) {
    self.tag = tag
    self.revision = revision
    self.keyBytes = UInt64(keyBytes)
    self.valueBytes = UInt64(valueBytes)
  }

  /// Reads a row that begins with `columns`; `nil` if it is damaged.
  init?(_ row: Row) {
    guard let tag = row.data(0), let revision = row.unsigned(1), let keyBytes = row.unsigned(2),
      let valueBytes = row.unsigned(3), valueBytes <= UInt64(Int32.max)
    else { return nil }
    self.tag = tag
    self.revision = revision
    self.keyBytes = keyBytes
    self.valueBytes = valueBytes
  }

  /// The size of key and value together, in bytes.
  var bytes: UInt64 { keyBytes &+ valueBytes }

  func context(_ column: String, of uuid: InstanceUUID, storageEpoch: UInt64) -> AdditionalData {
    var context = AdditionalData(column, of: uuid)
    context.append(storageEpoch)
    context.append(field: tag)
    context.append(revision)
    context.append(keyBytes)
    context.append(valueBytes)
    return context
  }
}

/// The keys for storage, derived from an instance's data key.
struct StorageKeys {
  private let names: SymmetricKey
  private let digest: AuthenticationKey

  init(_ key: DataKey) {
    names = DerivedKey.derive(from: key.key, purpose: "storage names")
    digest = AuthenticationKey(DerivedKey.derive(from: key.key, purpose: "storage digest"))
  }

  /// Returns the lookup tag of a storage key. Equal keys have equal tags, and a tag reveals nothing about its key.
  func tag(of name: String) -> Data {
    Data(names.authenticationCode(of: Array(name.utf8)).prefix(16))
  }

  /// Adds a row to the storage digest in `anchor`, or removes it.
  func toggle(_ row: StorageRow, in anchor: inout Anchor, of uuid: InstanceUUID, storageEpoch: UInt64) {
    anchor.storageDigest.toggle(row.context("storage", of: uuid, storageEpoch: storageEpoch), key: digest)
  }
}
