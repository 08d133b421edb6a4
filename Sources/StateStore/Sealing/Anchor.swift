import Cryptography
import FoundationEssentials
import SDKProtocol

/// The data in the row of an instance's key that authenticates the instance's other rows, sealed under that key.
///
/// The instance's own row is bound to `revision` and to the list of its push registrations, its storage to
/// `storageDigest`. A row of the instance, its push registrations or its storage does not open after it was rolled
/// back, removed, changed, or moved to another instance or key. The same holds when the row of the key alone was rolled
/// back.
///
/// Not detected is a rollback of *all* rows of an instance to one earlier moment since its last wipe, or of the whole
/// directory. Nothing outside of the files shows which version is the newest. Rows from before a wipe never open, since
/// their key is in no file. For the key of an outbox entry, only `revision` counts.
struct Anchor: Equatable {
  /// The length of a sealed anchor in bytes, always the same.
  static let sealedBytes = 40 + Seal.overhead

  /// A number raised with every change of the instance's own row.
  var revision: UInt64 = 0
  /// A number raised with every value written to storage. A storage row has the number of its own write.
  var storageRevision: UInt64 = 0
  /// The size of all keys and values in storage, in bytes.
  var storageBytes: UInt64 = 0
  /// The digest of all storage rows.
  var storageDigest = StorageDigest()

  func sealed(under key: DataKey, of instance: InstanceUUID) throws(SealError) -> Data {
    try Seal.seal(
      [revision, storageRevision, storageBytes, storageDigest.high, storageDigest.low], under: key.key,
      Self.context(instance, key))
  }

  init() {}

  init(opening sealed: Data, under key: DataKey, of instance: InstanceUUID) throws(SealError) {
    let numbers = try Seal.openNumbers(
      sealed, count: 5, under: key.key, Self.context(instance, key), what: "the row of its key")
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

/// A digest of a set of rows, to which rows are added and from which they are removed in constant time. It is the
/// exclusive or of a keyed digest of each row.
struct StorageDigest: Equatable {
  private(set) var high: UInt64 = 0
  private(set) var low: UInt64 = 0

  /// Adds a row that is not in the set, or removes one that is.
  mutating func toggle(_ row: AdditionalData, key: AuthenticationKey) {
    key.code(of: row.bytes).withUnsafeBytes { code in
      high ^= UInt64(bigEndian: code.loadUnaligned(as: UInt64.self))
      low ^= UInt64(bigEndian: code.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }
}
