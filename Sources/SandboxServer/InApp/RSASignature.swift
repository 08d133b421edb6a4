import Cryptography
import Foundation

/// RSA signatures over a JWT's first two parts: RS256 and RS512 (RFC 7518, 3.3).
enum RSASignature {
  /// Returns a signature with a private key, which is PKCS #8 in base64; an empty one if the algorithm is unknown.
  static func make(of input: String, algorithm: String, key: String) -> Data {
    guard let digest = digest(algorithm), let key = privateKey(key) else { return Data() }
    return Data(key.sign(Array(input.utf8), digest) ?? [])
  }

  /// Whether a signature is that of a public key in PEM.
  static func isValid(_ signature: Data, of input: String, algorithm: String, key pem: String) -> Bool {
    guard let digest = digest(algorithm), let key = RSAPublicKey(pem: pem) else { return false }
    return key.isValid(Array(signature), of: Array(input.utf8), digest)
  }

  /// Whether a text is a public RSA key in PEM of at least 2048 bits.
  static func isPublicKey(_ pem: String) -> Bool { RSAPublicKey(pem: pem) != nil }

  /// Returns the public half of a private key, in PEM; an empty text if it is none.
  static func publicKey(of key: String) -> String { privateKey(key)?.publicKey.pem ?? "" }

  /// Returns a public key in PEM from the members `n` and `e` of a JWK; `nil` if they are none.
  static func publicKey(modulus: String?, exponent: String?) -> String? {
    guard let modulus = modulus.flatMap({ HS256.bytes(base64URL: $0[...]) }),
      let exponent = exponent.flatMap({ HS256.bytes(base64URL: $0[...]) })
    else { return nil }
    return RSAPublicKey(modulus: Array(modulus), exponent: Array(exponent))?.pem
  }

  private static func digest(_ algorithm: String) -> RSADigest? {
    ["RS256": .sha256, "RS512": .sha512][algorithm]
  }

  private static func privateKey(_ text: String) -> RSAPrivateKey? {
    Data(base64Encoded: text).flatMap { RSAPrivateKey(der: Array($0)) }
  }
}
