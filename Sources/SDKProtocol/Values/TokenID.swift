import Crypto
public import JSONRPC

/// A short digest of a token that distinguishes tokens and is safe to log.
public struct TokenID: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The digest as sixteen hexadecimal digits. Decoding does not check them.
  public let description: String

  /// Computes the digest of a token.
  public init(_ token: Secret) {
    let digest = SHA256.hash(data: Array("sdkd token id:".utf8) + Array(token.reveal().utf8))
    description = digest.prefix(8).map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
  }

  public init(from decoder: any Decoder) throws {
    description = try decoder.singleValueContainer().decode(String.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension TokenID: JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.named(
    "TokenID", .string(pattern: "^[0-9a-f]{16}$", called: "token id"))
}
