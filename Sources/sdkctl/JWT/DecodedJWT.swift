import JSONRPC

/// What a JWT claims. Its signature is not kept.
struct DecodedJWT: Hashable {
  let header: JSONObject
  let payload: JSONObject

  /// A JWT with these claims.
  init(header: JSONObject, payload: JSONObject) {
    self.header = header
    self.payload = payload
  }

  /// Reads a JWT in its compact form; `nil` if it is none.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
      Self.base64URL(parts[2]) != nil
    else { return nil }
    self.init(header: header, payload: payload)
  }

  private static func object(_ part: Substring) -> JSONObject? {
    guard let bytes = base64URL(part), !bytes.isEmpty else { return nil }
    return try? JSONParser.parse(bytes).objectValue
  }

  /// The bytes of base64url text without padding; `nil` if it is none.
  static func base64URL(_ text: Substring) -> [UInt8]? {
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
    // One character alone says less than a byte.
    return text.utf8.count % 4 == 1 ? nil : bytes
  }
}
