import CNIOBoringSSL

/// A secret key of any length. Its bytes are erased when the last copy is gone.
public struct SymmetricKey: Sendable {
  private let storage: KeyStorage

  /// Creates a random key of 256 bits.
  public init() {
    storage = KeyStorage(byteCount: 32)
    RAND_bytes(storage.bytes.bindMemory(to: UInt8.self).baseAddress, 32)
  }

  /// Copies a key, without another copy on the way.
  public init(data: some Collection<UInt8>) {
    storage = KeyStorage(byteCount: data.count)
    storage.bytes.copyBytes(from: data)
  }

  /// Copies a key.
  public init(copying bytes: UnsafeRawBufferPointer) {
    storage = KeyStorage(byteCount: bytes.count)
    storage.bytes.copyMemory(from: bytes)
  }

  public var byteCount: Int { storage.bytes.count }

  public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withExtendedLifetime(storage) { try body(UnsafeRawBufferPointer(storage.bytes)) }
  }

  /// Returns a key of 256 bits for one purpose, derived from this one without a salt (HKDF-SHA256, RFC 5869).
  public func derive(for purpose: String) -> SymmetricKey {
    let derived = KeyStorage(byteCount: 32)
    let info = Array(purpose.utf8)
    withUnsafeBytes { secret in
      // It fails only for more than 255 digests of output.
      _ = HKDF(
        derived.bytes.bindMemory(to: UInt8.self).baseAddress, 32, EVP_sha256(),
        secret.bindMemory(to: UInt8.self).baseAddress, secret.count, nil, 0, info, info.count)
    }
    return SymmetricKey(derived)
  }

  private init(_ storage: KeyStorage) { self.storage = storage }
}

extension SymmetricKey: Equatable {
  /// The time that it takes does not depend on where the keys differ.
  public static func == (left: SymmetricKey, right: SymmetricKey) -> Bool {
    left.byteCount == right.byteCount
      && left.withUnsafeBytes { left in
        right.withUnsafeBytes { CRYPTO_memcmp(left.baseAddress, $0.baseAddress, left.count) } == 0
      }
  }
}

/// The bytes of a key, written only before anybody else has them.
private final class KeyStorage: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer

  init(byteCount: Int) { bytes = .allocate(byteCount: byteCount, alignment: 16) }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }
}
