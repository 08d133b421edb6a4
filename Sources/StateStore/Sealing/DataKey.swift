import Crypto
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key of one instance until its next wipe or of one outbox entry, and its place in the table of keys.
///
/// Its wrapped form is written once and stays as it is until it is overwritten where it lies, so that what a wipe has
/// to remove from the files is one sequence of bytes in one place.
struct DataKey {
  /// The length of the wrapped key.
  static let wrappedBytes = 32 + Seal.overhead

  let slot: Int64
  let key: SymmetricKey
  let wrapped: Data

  /// A new key.
  init(newFor owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    let key = SymmetricKey(size: .bits256)
    let context = owner.context(slot: slot)
    let plain = key.withUnsafeBytes { Data($0) }
    let sealed = vault.wrapping.use { wrapping in
      Result { () throws(SealError) in try Seal.seal(plain, under: wrapping, context) }
    }
    self.slot = slot
    self.key = key
    wrapped = try sealed.get()
  }

  /// The key that lies wrapped in a slot.
  init(opening wrapped: Data, of owner: KeyOwner, slot: Int64, vault: Vault) throws(SealError) {
    let context = owner.context(slot: slot)
    let opened = vault.wrapping.use { wrapping in
      Result { () throws(SealError) in try Seal.open(wrapped, under: wrapping, context, what: "its data key") }
    }
    self.slot = slot
    self.wrapped = wrapped
    key = SymmetricKey(data: try opened.get())
  }
}
