import Crypto
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key of one instance until its next wipe, and its place in the table of keys.
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
  init(newFor instance: InstanceUUID, slot: Int64, storageEpoch: UInt64, vault: Vault) throws(SealError) {
    let key = SymmetricKey(size: .bits256)
    let context = Self.context(instance, slot: slot, storageEpoch: storageEpoch)
    let plain = key.withUnsafeBytes { Data($0) }
    let sealed = vault.wrapping.use { wrapping in
      Result { () throws(SealError) in try Seal.seal(plain, under: wrapping, context) }
    }
    self.slot = slot
    self.key = key
    wrapped = try sealed.get()
  }

  /// The key that lies wrapped in a slot.
  init(
    opening wrapped: Data, of instance: InstanceUUID, slot: Int64, storageEpoch: UInt64, vault: Vault
  ) throws(SealError) {
    let context = Self.context(instance, slot: slot, storageEpoch: storageEpoch)
    let opened = vault.wrapping.use { wrapping in
      Result { () throws(SealError) in try Seal.open(wrapped, under: wrapping, context, what: "its data key") }
    }
    self.slot = slot
    self.wrapped = wrapped
    key = SymmetricKey(data: try opened.get())
  }

  private static func context(_ instance: InstanceUUID, slot: Int64, storageEpoch: UInt64) -> AdditionalData {
    var context = AdditionalData("data_key.wrapped", of: instance)
    context.append(UInt64(bitPattern: slot))
    context.append(storageEpoch)
    return context
  }
}
