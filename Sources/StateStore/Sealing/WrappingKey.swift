import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The key that wraps the data keys, derived from the master key.
struct WrappingKey: Sendable {
  private let key: LockedKey

  init(master: SymmetricKey) throws(StoreOpenError) {
    key = try LockedKey(DerivedKey.derive(from: master, purpose: "data keys"))
  }

  var isLocked: Bool { key.isLocked }

  func wrap(_ plain: SymmetricKey, for owner: KeyOwner, slot: Int64) throws(SealError) -> Data {
    let bytes = plain.withUnsafeBytes { Data($0) }
    let sealed = key.use { wrapping in
      Result { () throws(SealError) in try Seal.seal(bytes, under: wrapping, owner.context(slot: slot)) }
    }
    return try sealed.get()
  }

  func unwrap(_ wrapped: Data, for owner: KeyOwner, slot: Int64) throws(SealError) -> SymmetricKey {
    let opened = key.use { wrapping in
      Result { () throws(SealError) in
        try Seal.open(wrapped, under: wrapping, owner.context(slot: slot), what: "its data key")
      }
    }
    return SymmetricKey(data: try opened.get())
  }
}
