import CryptoExtras
import SDKProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Encrypts identifiers that could be guessed (seed 004, "User identifier requirements"): RSA, base64.
struct EdnaCipher: Sendable {
  /// The padding.
  enum Scheme: String, Codable, CaseIterable, Sendable {
    case oaepSHA256 = "rsa-oaep-sha256"
    case oaepSHA1 = "rsa-oaep-sha1"
    case pkcs1 = "rsa-pkcs1"

    fileprivate var padding: _RSA.Encryption.Padding {
      switch self {
      case .oaepSHA256: .PKCS1_OAEP_SHA256
      case .oaepSHA1: .PKCS1_OAEP
      case .pkcs1: ._WEAK_AND_INSECURE_PKCS_V1_5
      }
    }

    /// Bytes of a block that the padding takes.
    fileprivate var overhead: Int {
      switch self {
      case .oaepSHA256: 66
      case .oaepSHA1: 42
      case .pkcs1: 11
      }
    }
  }

  private let der: Data
  /// How many bytes of UTF-8 fit.
  let capacity: Int
  private let scheme: Scheme
  /// Tells this key and padding from others.
  let name: String

  /// A key in PEM; `nil` when it is none.
  init?(pem: String, scheme: Scheme) {
    guard let key = try? _RSA.Encryption.PublicKey(pemRepresentation: pem) else { return nil }
    der = key.derRepresentation
    capacity = key.keySizeInBits / 8 - scheme.overhead
    self.scheme = scheme
    name = TokenID(Secret("\(scheme.rawValue) \(der.base64EncodedString())")).description
  }

  /// An identifier as it goes on the wire; another text each time.
  ///
  /// - Throws: `invalidIdentifier` for one that is too long for the key.
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
