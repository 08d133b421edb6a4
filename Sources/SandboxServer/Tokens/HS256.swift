import Cryptography
import Digests
import Foundation
import JSONRPC

/// HMAC with SHA-256 over a JWT's first two parts (RFC 7518, 3.2), and the base64url of RFC 7515.
///
/// The sandbox does not use the daemon's JWT library, so that a fault of one side can't hide a fault of the other.
enum HS256 {
  static func signature(of input: String, secret: String) -> Data {
    Data(SymmetricKey(data: secret.utf8).authenticationCode(of: Array(input.utf8)))
  }

  /// Returns a signed JWT of these claims. `kid` goes into its header.
  static func token(_ claims: JSON, kid: String? = nil, secret: String) -> String {
    let header = JSON.of(["alg": "HS256", "kid": .optional(kid), "typ": "JWT"])
    let input = "\(base64URL(header.encoded)).\(base64URL(claims.encoded))"
    return "\(input).\(base64URL(signature(of: input, secret: secret)))"
  }

  static func isValid(_ signature: Data, of input: String, secret: String) -> Bool {
    AuthenticationKey(SymmetricKey(data: secret.utf8)).isValid(signature, of: Array(input.utf8))
  }

  static func base64URL(_ data: Data) -> String {
    data.base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// Returns the bytes of a base64url text; `nil` if it has padding or other invalid characters.
  static func bytes(base64URL text: Substring) -> Data? {
    let fits = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard fits else { return nil }
    let plain = text.replacing("-", with: "+").replacing("_", with: "/")
    return Data(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }

  /// Returns a digest of a token, which identifies the token without storing it.
  static func digest(of token: String) -> String {
    base64URL(Data(SHA256.hash(token.utf8)))
  }
}
