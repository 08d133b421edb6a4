import CNIOBoringSSL

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A public RSA key of at least 2048 bits.
public struct RSAPublicKey: Sendable {
  private let key: RSAKey

  /// Reads DER: a SubjectPublicKeyInfo (RFC 5280) or an RSAPublicKey (RFC 8017).
  public init?(der: [UInt8]) {
    let read =
      RSAKey.read(der, EVP_parse_public_key, free: EVP_PKEY_free)
      ?? Self.wrap(RSAKey.read(der, RSA_parse_public_key, free: RSA_free))
    guard let key = RSAKey(taking: read) else { return nil }
    self.key = key
  }

  /// Reads PEM (RFC 7468) with one block of such DER.
  public init?(pem: String) {
    guard let der = Self.der(inPEM: pem) else { return nil }
    self.init(der: der)
  }

  /// Takes the numbers of a JWK, most significant byte first (RFC 7518, 6.3.1).
  public init?(modulus: [UInt8], exponent: [UInt8]) {
    let (n, e) = (BN_bin2bn(modulus, modulus.count, nil), BN_bin2bn(exponent, exponent.count, nil))
    defer {
      BN_free(n)
      BN_free(e)
    }
    guard let key = RSAKey(taking: Self.wrap(RSA_new_public_key(n, e))) else { return nil }
    self.key = key
  }

  init(of key: RSAKey) { self.key = key }

  public var byteCount: Int { key.byteCount }

  /// The key as a SubjectPublicKeyInfo.
  public var der: [UInt8] { key.publicDER }

  public var pem: String {
    let text = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----"
  }

  /// Returns a ciphertext, another one each time; `nil` if the message is longer than the key's size less the padding's overhead.
  public func encrypt(_ message: [UInt8], _ padding: RSAPadding) -> [UInt8]? {
    key.apply(padding, to: message, begin: EVP_PKEY_encrypt_init, work: EVP_PKEY_encrypt)
  }

  /// Whether a signature of PKCS #1, version 1.5, is that of the message.
  public func isValid(_ signature: [UInt8], of message: [UInt8], _ digest: RSADigest) -> Bool {
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, digest.algorithm, nil, key.key) == 1
      && EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
  }

  /// Puts an RSA key into a key of any algorithm, and gives it up.
  private static func wrap(_ rsa: OpaquePointer?) -> OpaquePointer? {
    guard let rsa else { return nil }
    defer { RSA_free(rsa) }
    let key = EVP_PKEY_new()
    EVP_PKEY_set1_RSA(key, rsa)
    return key
  }

  private static func der(inPEM pem: String) -> [UInt8]? {
    let lines = pem.split(whereSeparator: \.isNewline).map { $0.trimmingSuffix(while: \.isWhitespace) }
    let begins = lines.indices.filter { lines[$0].hasPrefix("-----BEGIN ") }
    guard begins.count == 1, let begin = begins.first, lines[begin].hasSuffix("-----"),
      let end = lines.lastIndex(of: "-----END " + lines[begin].dropFirst(11)), begin < end
    else { return nil }
    return Data(base64Encoded: lines[(begin + 1)..<end].joined()).map { Array($0) }
  }
}

/// A private RSA key of at least 2048 bits.
public struct RSAPrivateKey: Sendable {
  private let key: RSAKey

  /// Reads DER: a PrivateKeyInfo (PKCS #8, RFC 5208).
  public init?(der: [UInt8]) {
    let read = RSAKey.read(der, EVP_parse_private_key, free: EVP_PKEY_free)
    guard let key = RSAKey(taking: read) else { return nil }
    self.key = key
  }

  public var publicKey: RSAPublicKey { RSAPublicKey(of: key) }

  /// Returns the message of a ciphertext; `nil` if it was encrypted with another key or padding.
  public func decrypt(_ ciphertext: [UInt8], _ padding: RSAPadding) -> [UInt8]? {
    key.apply(padding, to: ciphertext, begin: EVP_PKEY_decrypt_init, work: EVP_PKEY_decrypt)
  }

  /// Returns a signature of PKCS #1, version 1.5; `nil` if none could be made.
  public func sign(_ message: [UInt8], _ digest: RSADigest) -> [UInt8]? {
    let context = EVP_MD_CTX_new()
    defer {
      EVP_MD_CTX_free(context)
      ERR_clear_error()
    }
    guard EVP_DigestSignInit(context, nil, digest.algorithm, nil, key.key) == 1 else { return nil }
    var isDone = false
    let signature = [UInt8](unsafeUninitializedCapacity: key.byteCount) { signature, count in
      count = key.byteCount
      isDone = EVP_DigestSign(context, signature.baseAddress, &count, message, message.count) == 1
      if !isDone { count = 0 }
    }
    return isDone ? signature : nil
  }
}

extension Substring {
  fileprivate func trimmingSuffix(while isTrimmed: (Character) -> Bool) -> Substring {
    var rest = self
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return rest
  }
}
