import Cryptography
import JSONRPC
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// RSA encryption of identifiers that could be guessed (the vendor's guide, "User identifier requirements"). The output is
/// base64.
struct EdnaCipher: Sendable {
  /// The padding scheme.
  enum Scheme: String, Codable, CaseIterable, Sendable {
    case oaepSHA256 = "rsa-oaep-sha256"
    case oaepSHA1 = "rsa-oaep-sha1"
    case pkcs1 = "rsa-pkcs1"

    static let jsonSchema = JSONSchema.enumeration(allCases.map(\.rawValue))

    fileprivate var padding: RSAPadding {
      switch self {
      case .oaepSHA256: .oaepSHA256
      case .oaepSHA1: .oaepSHA1
      case .pkcs1: .pkcs1
      }
    }
  }

  private let key: RSAPublicKey
  /// The size of the largest identifier that can be encrypted, in bytes of UTF-8.
  let capacity: Int
  private let scheme: Scheme
  /// A digest of this key and padding scheme, to compare with others.
  let name: String

  /// Creates a cipher with a public key in PEM; `nil` if the key can't be used.
  init?(pem: String, scheme: Scheme) {
    guard let key = RSAPublicKey(pem: pem) else { return nil }
    self.key = key
    capacity = key.byteCount - scheme.padding.overhead
    self.scheme = scheme
    name = TokenID(Secret("\(scheme.rawValue) \(Data(key.der).base64EncodedString())")).description
  }

  /// Returns the ciphertext of an identifier as base64. The padding is random, so each call returns another text.
  ///
  /// - Throws: `invalidIdentifier` for an identifier that is too long for the key.
  func encrypt(_ identifier: Secret) throws(SDKError) -> Secret {
    guard let bytes = key.encrypt(Array(identifier.reveal().utf8), scheme.padding) else {
      throw SDKError(
        .local, .invalidIdentifier,
        "The identifier can't be encrypted: with this key it may have at most \(capacity) bytes.")
    }
    return Secret(Data(bytes).base64EncodedString())
  }
}
