import Crypto
import CryptoExtras
import Foundation

/// RSA signatures over a JWT's first two parts: RS256 and RS512 (RFC 7518, 3.3).
enum RSASignature {
  /// Returns a signature with a private key, which is PKCS #8 in base64; an empty one if the algorithm is unknown.
  static func make(of input: String, algorithm: String, key: String) -> Data {
    guard let key = privateKey(key) else { return Data() }
    let text = Data(input.utf8)
    let signature =
      switch algorithm {
      case "RS256": try? key.signature(for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
      case "RS512": try? key.signature(for: SHA512.hash(data: text), padding: .insecurePKCS1v1_5)
      default: _RSA.Signing.RSASignature?.none
      }
    return signature?.rawRepresentation ?? Data()
  }

  /// Whether a signature is that of a public key in PEM.
  static func isValid(_ signature: Data, of input: String, algorithm: String, key pem: String) -> Bool {
    guard let key = try? _RSA.Signing.PublicKey(pemRepresentation: pem) else { return false }
    let (text, signature) = (Data(input.utf8), _RSA.Signing.RSASignature(rawRepresentation: signature))
    return switch algorithm {
    case "RS256": key.isValidSignature(signature, for: SHA256.hash(data: text), padding: .insecurePKCS1v1_5)
    case "RS512": key.isValidSignature(signature, for: SHA512.hash(data: text), padding: .insecurePKCS1v1_5)
    default: false
    }
  }

  /// Whether a text is a public RSA key in PEM of at least 2048 bits.
  static func isPublicKey(_ pem: String) -> Bool { (try? _RSA.Signing.PublicKey(pemRepresentation: pem)) != nil }

  /// Returns the public half of a private key, in PEM; an empty text if it is none.
  static func publicKey(of key: String) -> String { privateKey(key)?.publicKey.pemRepresentation ?? "" }

  /// Returns a public key in PEM from the members `n` and `e` of a JWK; `nil` if they are none.
  static func publicKey(modulus: String?, exponent: String?) -> String? {
    guard let modulus = modulus.flatMap({ HS256.bytes(base64URL: $0[...]) }),
      let exponent = exponent.flatMap({ HS256.bytes(base64URL: $0[...]) })
    else { return nil }
    return (try? _RSA.Signing.PublicKey(n: modulus, e: exponent))?.pemRepresentation
  }

  private static func privateKey(_ text: String) -> _RSA.Signing.PrivateKey? {
    Data(base64Encoded: text).flatMap { try? _RSA.Signing.PrivateKey(derRepresentation: $0) }
  }
}
