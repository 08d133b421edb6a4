import Crypto
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key of one instance until its next wipe or of one outbox entry, and its place in the table of keys.
///
/// Its wrapped form is written once and stays as it is until it is overwritten where it lies, so that what a wipe or a
/// rotation has to remove from the files is one sequence of bytes in one place.
struct DataKey {
  /// The length of the wrapped key.
  static let wrappedBytes = 32 + Seal.overhead

  let slot: Int64
  let key: SymmetricKey
  let wrapped: Data

  /// A new key.
  init(newFor owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    key = SymmetricKey(size: .bits256)
    wrapped = try vault.wrap(key, for: owner, slot: slot)
  }

  /// The key that lies wrapped in a slot.
  init(opening wrapped: Data, of owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    self.wrapped = wrapped
    key = try vault.unwrap(wrapped, for: owner, slot: slot)
  }
}
