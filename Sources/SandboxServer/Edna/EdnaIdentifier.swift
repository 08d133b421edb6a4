import CryptoExtras
import Foundation

/// A client id as sent, and its decrypted form if it is encrypted (`vendors.md` 5.2: `clientIdIsEncrypted`).
struct EdnaIdentifier: Equatable, Sendable {
  let sent: String
  /// The decrypted id; `nil` for an id that is not encrypted with the demo key.
  let decrypted: Decrypted?

  struct Decrypted: Equatable, Sendable {
    let id: String
    /// The encryption scheme: `rsa-oaep-sha256`, `rsa-oaep-sha1` or `rsa-pkcs1`.
    let scheme: String
  }

  init(_ sent: String) {
    self.sent = sent
    decrypted = Self.decrypt(sent)
  }

  /// The plain client id, which identifies the user: two encryptions of the same id are the same user.
  var plain: String { decrypted?.id ?? sent }

  private static func decrypt(_ text: String) -> Decrypted? {
    guard let bytes = Data(base64Encoded: text), bytes.count == 256,
      let der = Data(base64Encoded: DemoAccounts.identifierPrivateKey),
      let key = try? _RSA.Encryption.PrivateKey(derRepresentation: der)
    else { return nil }
    let paddings: [(String, _RSA.Encryption.Padding)] = [
      ("rsa-oaep-sha256", .PKCS1_OAEP_SHA256), ("rsa-oaep-sha1", .PKCS1_OAEP),
      ("rsa-pkcs1", ._WEAK_AND_INSECURE_PKCS_V1_5),
    ]
    for (scheme, padding) in paddings {
      guard let plain = try? key.decrypt(bytes, padding: padding), !plain.isEmpty,
        let id = String(bytes: plain, encoding: .utf8)
      else { continue }
      return Decrypted(id: id, scheme: scheme)
    }
    return nil
  }
}
