import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the row of an instance's key says about its other rows, sealed under that key.
///
/// The instance's own row is bound to `revision` and to the list of its push registrations, its storage to
/// `storageDigest`. So a row of an instance, of its push registrations or of its storage that is put back as it was,
/// removed, changed, or moved to another instance or key does not open, and neither does the row of the key alone. Not
/// detected is what puts back *all* rows of an instance as they were together at one earlier moment since its last
/// wipe, or the whole directory: nothing outside of the files says what is newest. Rows from before a wipe do not open
/// at all, since their key is in no file. Of an outbox entry's key it is `revision` alone that counts.
struct Anchor: Equatable {
  /// The length of the sealed anchor, always the same.
  static let sealedBytes = 40 + Seal.overhead

  /// Raised with every change of the instance's own row.
  var revision: UInt64 = 0
  /// Raised with every write to storage; a row of storage has the one that it was written with.
  var storageRevision: UInt64 = 0
  /// Keys and values in storage together.
  var storageBytes: UInt64 = 0
  /// All rows of storage.
  var storageDigest = StorageDigest()

  func sealed(under key: DataKey, of instance: InstanceUUID) throws(SealError) -> Data {
    var plain = Data()
    for number in [revision, storageRevision, storageBytes, storageDigest.high, storageDigest.low] {
      plain.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) })
    }
    return try Seal.seal(plain, under: key.key, Self.context(instance, key))
  }

  init() {}

  init(opening sealed: Data, under key: DataKey, of instance: InstanceUUID) throws(SealError) {
    let plain = try Seal.open(sealed, under: key.key, Self.context(instance, key), what: "the row of its key")
    guard plain.count == 40 else { throw SealError(what: "the row of its key") }
    let numbers = (0..<5).map { index in
      plain.dropFirst(index * 8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    revision = numbers[0]
    storageRevision = numbers[1]
    storageBytes = numbers[2]
    storageDigest = StorageDigest(high: numbers[3], low: numbers[4])
  }

  private static func context(_ instance: InstanceUUID, _ key: DataKey) -> AdditionalData {
    var context = AdditionalData("data_key.anchor", of: instance)
    context.append(UInt64(bitPattern: key.slot))
    return context
  }
}
