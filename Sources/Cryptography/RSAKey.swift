import CNIOBoringSSL

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a message is filled up to the size of an RSA key before it is encrypted (RFC 8017, section 7).
public enum RSAPadding: Sendable, CaseIterable {
  case oaepSHA256
  case oaepSHA1
  /// Weak: for servers that know nothing else.
  case pkcs1

  /// The bytes that it takes of a key's size.
  public var overhead: Int {
    switch self {
    case .oaepSHA256: 66
    case .oaepSHA1: 42
    case .pkcs1: 11
    }
  }

  fileprivate func choose(for work: OpaquePointer?) -> Bool {
    switch self {
    case .pkcs1: return EVP_PKEY_CTX_set_rsa_padding(work, RSA_PKCS1_PADDING) == 1
    case .oaepSHA1, .oaepSHA256:
      let digest = self == .oaepSHA1 ? EVP_sha1() : EVP_sha256()
      return EVP_PKEY_CTX_set_rsa_padding(work, RSA_PKCS1_OAEP_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_oaep_md(work, digest) == 1
        && EVP_PKEY_CTX_set_rsa_mgf1_md(work, digest) == 1
    }
  }
}

/// The digest of a signed message.
public enum RSADigest: Sendable {
  case sha256
  case sha512

  var algorithm: OpaquePointer? { self == .sha256 ? EVP_sha256() : EVP_sha512() }
}

/// An RSA key of BoringSSL, public or private, of at least 2048 bits.
final class RSAKey: @unchecked Sendable {
  private static let minimumBits = 2048

  /// Not changed after its creation, so that several threads may use it.
  let key: OpaquePointer

  /// Takes a key over. Returns `nil` for none, and for one that is no RSA key or too short.
  init?(taking key: OpaquePointer?) {
    guard let key else {
      ERR_clear_error()
      return nil
    }
    self.key = key
    guard EVP_PKEY_id(key) == EVP_PKEY_RSA, EVP_PKEY_bits(key) >= Self.minimumBits else {
      return nil
    }
  }

  deinit { EVP_PKEY_free(key) }

  var byteCount: Int { Int(EVP_PKEY_size(key)) }

  /// The public key as DER (SubjectPublicKeyInfo, RFC 5280).
  var publicDER: [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = Int(i2d_PUBKEY(key, &bytes))
    guard count > 0, let bytes else { return [] }
    defer { OPENSSL_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: count))
  }

  /// Returns what a reader of BoringSSL makes of all bytes; `nil` if some are left.
  static func read(
    _ der: [UInt8], _ parse: (UnsafeMutablePointer<CBS>?) -> OpaquePointer?, free: (OpaquePointer?) -> Void
  ) -> OpaquePointer? {
    der.withUnsafeBufferPointer { bytes in
      var rest = CBS()
      CBS_init(&rest, bytes.baseAddress, bytes.count)
      let read = parse(&rest)
      guard let read, CBS_len(&rest) == 0 else {
        free(read)
        ERR_clear_error()
        return nil
      }
      return read
    }
  }

  /// Encrypts or decrypts; `nil` if the input does not fit the key or the padding.
  func apply(
    _ padding: RSAPadding, to input: [UInt8], begin: (OpaquePointer?) -> Int32,
    work: (OpaquePointer?, UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Int>?, UnsafePointer<UInt8>?, Int) ->
      Int32
  ) -> [UInt8]? {
    let context = EVP_PKEY_CTX_new(key, nil)
    defer {
      EVP_PKEY_CTX_free(context)
      ERR_clear_error()
    }
    guard context != nil, begin(context) == 1, padding.choose(for: context) else { return nil }
    var isDone = false
    let output = [UInt8](unsafeUninitializedCapacity: byteCount) { output, count in
      count = byteCount
      isDone = work(context, output.baseAddress, &count, input, input.count) == 1
      if !isDone { count = 0 }
    }
    return isDone ? output : nil
  }
}
