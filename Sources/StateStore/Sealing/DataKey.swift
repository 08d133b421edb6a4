import Crypto
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key of one instance until its next wipe, or of one outbox entry, with its slot in the table of keys.
///
/// The wrapped key is written once and stays in place until it is overwritten. So a wipe or a rotation has to remove
/// only one sequence of bytes, at one place in the files.
struct DataKey {
  /// The length of a wrapped key in bytes.
  static let wrappedBytes = 32 + Seal.overhead

  let slot: Int64
  let key: SymmetricKey
  let wrapped: Data

  /// Creates a new key.
  init(newFor owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    key = SymmetricKey(size: .bits256)
    wrapped = try vault.wrap(key, for: owner, slot: slot)
  }

  /// Unwraps the key in a slot.
  init(opening wrapped: Data, of owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    self.slot = slot
    self.wrapped = wrapped
    key = try vault.unwrap(wrapped, for: owner, slot: slot)
  }
}
