import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A digest of a set of rows, to which rows are added and from which they are removed in constant time. It is the
/// exclusive or of a keyed digest of each row.
struct StorageDigest: Equatable {
  private(set) var high: UInt64 = 0
  private(set) var low: UInt64 = 0

  init() {}

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Adds a row that is not in the set, or removes one that is.
  mutating func toggle(_ row: AdditionalData, key: SymmetricKey) {
    let code = Array(HMAC<SHA256>.authenticationCode(for: row.bytes, using: key))
    high ^= code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    low ^= code.dropFirst(8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
  }
}
