import Crypto

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The failure to open a sealed value: it was damaged, moved, rolled back, or sealed under another key.
struct SealError: Error, Hashable {
  /// The name of the value that does not open.
  let what: String
}

/// AES-GCM with 256-bit keys and random nonces. A sealed value consists of nonce, ciphertext and tag.
enum Seal {
  /// The number of bytes by which a sealed value is longer than the plain one.
  static let overhead = 28

  static func seal(_ plain: Data, under key: SymmetricKey, _ context: AdditionalData) throws(SealError) -> Data {
    guard let box = try? AES.GCM.seal(plain, using: key, authenticating: context.bytes), let bytes = box.combined
    else { throw SealError(what: "sealing") }
    return bytes
  }

  static func open(
    _ sealed: Data, under key: SymmetricKey, _ context: AdditionalData, what: String
  ) throws(SealError) -> Data {
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let plain = try? AES.GCM.open(box, using: key, authenticating: context.bytes)
    else { throw SealError(what: what) }
    return plain
  }
}
