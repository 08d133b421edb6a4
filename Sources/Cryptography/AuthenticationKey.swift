import CNIOBoringSSL

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A key for many authentication codes (HMAC-SHA256, RFC 2104). The part of the work that depends on the key alone is done once.
public struct AuthenticationKey: Sendable {
  /// The length of a code in bytes.
  public static let byteCount = 32

  private let begun: BegunDigests

  public init(_ key: SymmetricKey) { begun = BegunDigests(key) }

  /// Returns the authentication code of a message.
  public func code(of message: some ContiguousBytes) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { code, count in
      var digest = begun.inner
      message.withUnsafeBytes { bytes in _ = SHA256_Update(&digest, bytes.baseAddress, bytes.count) }
      SHA256_Final(code.baseAddress, &digest)
      digest = begun.outer
      SHA256_Update(&digest, code.baseAddress, Self.byteCount)
      SHA256_Final(code.baseAddress, &digest)
      count = Self.byteCount
    }
  }

  /// Whether `code` is that of a message. The time that it takes does not depend on where they differ.
  public func isValid(_ code: some Collection<UInt8>, of message: some ContiguousBytes) -> Bool {
    let right = self.code(of: message)
    return code.count == right.count && CRYPTO_memcmp(Array(code), right, right.count) == 0
  }
}

extension SymmetricKey {
  /// Returns the authentication code of one message: HMAC-SHA256, 32 bytes.
  public func authenticationCode(of message: some ContiguousBytes) -> [UInt8] {
    AuthenticationKey(self).code(of: message)
  }
}

/// The digests of HMAC after the key; erased at the end, since who has them can make codes.
private final class BegunDigests: @unchecked Sendable {
  private static let blockBytes = 64

  private(set) var inner = SHA256_CTX()
  private(set) var outer = SHA256_CTX()

  init(_ key: SymmetricKey) {
    var block = [UInt8](repeating: 0, count: Self.blockBytes)
    key.withUnsafeBytes { key in
      if key.count > Self.blockBytes {
        _ = SHA256(key.bindMemory(to: UInt8.self).baseAddress, key.count, &block)
      } else {
        block.replaceSubrange(..<key.count, with: key)
      }
    }
    for index in block.indices { block[index] ^= 0x36 }
    begin(&inner, block)
    for index in block.indices { block[index] ^= 0x36 ^ 0x5C }
    begin(&outer, block)
    OPENSSL_cleanse(&block, block.count)
  }

  deinit {
    OPENSSL_cleanse(&inner, MemoryLayout<SHA256_CTX>.size)
    OPENSSL_cleanse(&outer, MemoryLayout<SHA256_CTX>.size)
  }

  private func begin(_ digest: inout SHA256_CTX, _ block: [UInt8]) {
    SHA256_Init(&digest)
    SHA256_Update(&digest, block, block.count)
  }
}
