public import JSONRPC

/// The header and the claims of a JWT in its compact form (RFC 7515, section 7.1). The signature is neither verified
/// nor stored.
///
/// Foundation's decoder takes seconds for a payload of 1 KB that nests some hundred levels deep. The parser used here
/// refuses such a payload.
public struct DecodedJWT: Sendable, Hashable {
  /// The header.
  public let header: JSONObject
  /// The claims, which are not verified.
  public let payload: JSONObject
  /// Whether the signature is not empty.
  public let isSigned: Bool

  /// Creates a JWT with these claims.
  public init(header: JSONObject, payload: JSONObject, isSigned: Bool = true) {
    self.header = header
    self.payload = payload
    self.isSigned = isSigned
  }

  /// Parses a JWT; `nil` if the text is not one.
  public init?(_ text: String) {
    // As bytes: to find the characters of a token takes longer than all the rest.
    let parts = text.utf8.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
      .map(Substring.init)
    guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
      let signature = Self.base64URL(parts[2])
    else { return nil }
    self.init(header: header, payload: payload, isSigned: !signature.isEmpty)
  }

  private static func object(_ part: Substring) -> JSONObject? {
    guard let bytes = base64URL(part), !bytes.isEmpty else { return nil }
    return try? JSONParser.parse(bytes).objectValue
  }

  /// Returns the bytes of base64url text without padding (RFC 4648, section 5); `nil` for other text.
  public static func base64URL(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    for character in text.utf8 {
      let value: UInt8
      switch character {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = character - 65
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = character - 71
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = character + 4
      case UInt8(ascii: "-"): value = 62
      case UInt8(ascii: "_"): value = 63
      default: return nil
      }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    // A single character after the last group of four has only 6 bits, less than a byte.
    return text.utf8.count % 4 == 1 ? nil : bytes
  }
}
