import CNIOBoringSSL

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// AES-GCM (NIST SP 800-38D) with keys of 256 bits and random nonces. A sealed value consists of nonce, ciphertext and tag.
public enum AESGCM {
  private static let nonceBytes = 12
  private static let tagBytes = 16
  /// The number of bytes by which a sealed value is longer than the plain one.
  public static let overhead = nonceBytes + tagBytes

  /// Seals bytes. The value opens only with the same additional data. `nil` if the key has another length.
  public static func seal(_ plain: Data, under key: SymmetricKey, authenticating additional: [UInt8]) -> Data? {
    var sealed = Data(count: plain.count + overhead)
    let isSealed = sealed.withUnsafeMutableBytes { (sealed: UnsafeMutableRawBufferPointer) in
      let nonce = sealed.bindMemory(to: UInt8.self).baseAddress
      RAND_bytes(nonce, nonceBytes)
      return withCipher(key) { cipher in
        plain.withUnsafeBytes { plain in
          var count = 0
          return EVP_AEAD_CTX_seal(
            &cipher, nonce.map { $0 + nonceBytes }, &count, sealed.count - nonceBytes, nonce, nonceBytes,
            plain.bindMemory(to: UInt8.self).baseAddress, plain.count, additional, additional.count) == 1
        }
      }
    }
    return isSealed ? sealed : nil
  }

  /// Opens a sealed value; `nil` if it was changed, or sealed with another key or other additional data.
  public static func open(_ sealed: Data, under key: SymmetricKey, authenticating additional: [UInt8]) -> Data? {
    guard sealed.count >= overhead else { return nil }
    var plain = Data(count: sealed.count - overhead)
    let isOpened = plain.withUnsafeMutableBytes { (plain: UnsafeMutableRawBufferPointer) in
      withCipher(key) { cipher in
        sealed.withUnsafeBytes { sealed in
          let nonce = sealed.bindMemory(to: UInt8.self).baseAddress
          let tag = nonce.map { $0 + sealed.count - tagBytes }
          return EVP_AEAD_CTX_open_gather(
            &cipher, plain.bindMemory(to: UInt8.self).baseAddress, nonce, nonceBytes, nonce.map { $0 + nonceBytes },
            plain.count, tag, tagBytes, additional, additional.count) == 1
        }
      }
    }
    return isOpened ? plain : nil
  }

  private static func withCipher(_ key: SymmetricKey, _ body: (inout EVP_AEAD_CTX) -> Bool) -> Bool {
    var cipher = EVP_AEAD_CTX()
    defer { OPENSSL_cleanse(&cipher, MemoryLayout<EVP_AEAD_CTX>.size) }
    let isReady = key.withUnsafeBytes { key in
      EVP_AEAD_CTX_init(
        &cipher, EVP_aead_aes_256_gcm(), key.bindMemory(to: UInt8.self).baseAddress, key.count, tagBytes,
        nil)
    }
    guard isReady == 1 else {
      ERR_clear_error()
      return false
    }
    defer { EVP_AEAD_CTX_cleanup(&cipher) }
    guard body(&cipher) else {
      // Else the thread's list of errors keeps it, where the TLS library would find it.
      ERR_clear_error()
      return false
    }
    return true
  }
}
