import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys for storage, derived from an instance's data key.
struct StorageKeys {
  private let names: SymmetricKey
  private let digest: SymmetricKey

  init(_ key: DataKey) {
    names = DerivedKey.derive(from: key.key, purpose: "storage names")
    digest = DerivedKey.derive(from: key.key, purpose: "storage digest")
  }

  /// Returns the lookup tag of a storage key. Equal keys have equal tags, and a tag reveals nothing about its key.
  func tag(of name: String) -> Data {
    Data(HMAC<SHA256>.authenticationCode(for: Array(name.utf8), using: names).prefix(16))
  }

  /// Adds a row to the storage digest in `anchor`, or removes it.
  func toggle(_ row: StorageRow, in anchor: inout Anchor, of uuid: InstanceUUID, storageEpoch: UInt64) {
    anchor.storageDigest.toggle(row.context("storage", of: uuid, storageEpoch: storageEpoch), key: digest)
  }
}
