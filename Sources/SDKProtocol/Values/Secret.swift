import Digests
public import JSONRPC

/// A text that must not be disclosed: a token, a key, a password.
///
/// It prints as `‹secret›` wherever it is interpolated, dumped or mirrored. Only `reveal()` and encoding give the text.
/// They are for the wire, sealed rows, a provider's standard input and checks in memory.
public struct Secret: Sendable, Hashable {
  private let text: String

  /// Creates a secret from its text.
  public init(_ text: String) { self.text = text }

  /// Returns the text itself.
  public func reveal() -> String { text }

  /// Whether the text is empty.
  public var isEmpty: Bool { text.isEmpty }

  /// Returns whether two texts are equal, in a time that does not depend on where they differ. It may depend on their
  /// lengths.
  public static func == (one: Secret, other: Secret) -> Bool {
    let a = Array(one.text.utf8)
    let b = Array(other.text.utf8)
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "‹secret›" }
  public var debugDescription: String { "‹secret›" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A secret is encoded as its plain text. Encode it only for the wire and sealed rows.
extension Secret: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

/// A short digest of a token that distinguishes tokens and is safe to log.
public struct TokenID: Sendable, Hashable, Codable, CustomStringConvertible {
  /// The digest as sixteen hexadecimal digits. Decoding does not check them.
  public let description: String

  /// Computes the digest of a token.
  public init(_ token: Secret) {
    let digest = SHA256.hash(Array("sdkd token id:".utf8) + Array(token.reveal().utf8))
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
