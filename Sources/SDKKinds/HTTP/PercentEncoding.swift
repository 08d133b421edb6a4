import SDKProtocol

/// Percent-encoding of texts for URLs, forms and headers (RFC 3986, section 2).
enum PercentEncoding {
  /// Returns a text with all but the unreserved characters encoded.
  static func value(_ text: String) -> String { encoded(text) { isUnreserved($0) } }

  /// Returns a vendor's id as one segment of a path. Dots are encoded too, since they could lead to another path.
  static func segment(_ text: String) -> String { encoded(text) { isUnreserved($0) && $0 != UInt8(ascii: ".") } }

  /// Returns fields as a body of the type `application/x-www-form-urlencoded`.
  static func form(_ fields: [(name: String, value: Secret)]) -> [UInt8] {
    Array(fields.map { "\(value($0.name))=\(value($0.value.reveal()))" }.joined(separator: "&").utf8)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
    default: false
    }
  }

  private static func encoded(_ text: String, keeping isKept: (UInt8) -> Bool) -> String {
    var encoded = ""
    for byte in text.utf8 {
      if isKept(byte) {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
