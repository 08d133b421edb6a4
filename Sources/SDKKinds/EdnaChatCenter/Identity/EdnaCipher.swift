import CryptoExtras
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

    fileprivate var padding: _RSA.Encryption.Padding {
      switch self {
      case .oaepSHA256: .PKCS1_OAEP_SHA256
      case .oaepSHA1: .PKCS1_OAEP
      case .pkcs1: ._WEAK_AND_INSECURE_PKCS_V1_5
      }
    }

    /// The bytes of an RSA block that the padding takes.
    fileprivate var overhead: Int {
      switch self {
      case .oaepSHA256: 66
      case .oaepSHA1: 42
      case .pkcs1: 11
      }
    }
  }

  private let der: Data
  /// The size of the largest identifier that can be encrypted, in bytes of UTF-8.
  let capacity: Int
  private let scheme: Scheme
  /// A digest of this key and padding scheme, to compare with others.
  let name: String

  /// Creates a cipher with a public key in PEM; `nil` if the key can't be used.
  init?(pem: String, scheme: Scheme) {
    guard let key = try? _RSA.Encryption.PublicKey(pemRepresentation: pem) else { return nil }
    der = key.derRepresentation
    capacity = key.keySizeInBits / 8 - scheme.overhead
    self.scheme = scheme
    name = TokenID(Secret("\(scheme.rawValue) \(der.base64EncodedString())")).description
  }

  /// Returns the ciphertext of an identifier as base64. The padding is random, so each call returns another text.
  ///
  /// - Throws: `invalidIdentifier` for an identifier that is too long for the key.
  func encrypt(_ identifier: Secret) throws(SDKError) -> Secret {
    do {
      let key = try _RSA.Encryption.PublicKey(derRepresentation: der)
      let bytes = try key.encrypt(Data(identifier.reveal().utf8), padding: scheme.padding)
      return Secret(bytes.base64EncodedString())
    } catch {
      throw SDKError(
        .local, .invalidIdentifier,
        "The identifier can't be encrypted: with this key it may have at most \(capacity) bytes.")
    }
  }
}
