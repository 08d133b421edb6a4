/// Base64 for URLs without padding (RFC 4648, section 5). Decoding accepts one spelling for each sequence of bytes, and
/// at most 128 characters.
enum Base64URL {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = (pending << 8 | UInt32(byte)) & 0xFFFF
      bits += 8
      while bits >= 6 {
        bits -= 6
        text.append(alphabet[Int(pending >> UInt32(bits) & 63)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(pending << UInt32(6 - bits) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count <= 128 else { return nil }
    var bytes: [UInt8] = []
    var pending: UInt32 = 0
    var bits = 0
    for character in text.utf8 {
      guard let value = alphabet.firstIndex(of: character) else { return nil }
      pending = (pending << 6 | UInt32(value)) & 0xFFFF
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return encode(bytes) == text ? bytes : nil
  }
}
