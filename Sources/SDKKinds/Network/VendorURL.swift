import SDKInstances
import SDKProtocol

/// The parts of a vendor's URL.
struct VendorURL: Hashable {
  /// The protocol that a URL is used with.
  enum Spoken {
    case http
    case webSocket
  }

  /// Whether the connection is encrypted.
  var isSecure: Bool
  /// The host: a name in lower case, or an address without brackets.
  var host: String
  /// The port; the scheme's default unless given.
  var port: UInt16
  /// The path with its query; begins with a slash.
  var target: String

  /// Splits a URL. `nil` for another scheme and for a URL that `URLRule` can't read. A fragment is dropped.
  init?(_ url: String, _ spoken: Spoken) {
    guard let parts = URLRule.parts(url) else { return nil }
    switch (spoken, parts.scheme) {
    case (.http, "https"), (.webSocket, "wss"): isSecure = true
    case (.http, "http"), (.webSocket, "ws"): isSecure = false
    default: return nil
    }
    host = parts.host
    port = parts.port ?? (isSecure ? 443 : 80)
    let path = url.dropFirst(parts.scheme.count + 3).drop { $0 != "/" && $0 != "?" && $0 != "#" }.prefix { $0 != "#" }
    target = path.first == "/" ? String(path) : "/" + path
  }

  /// The server name for TLS; `nil` for an address.
  var serverName: String? { NetworkAddress(literal: host) == nil ? host : nil }

  /// The value of the header `Host`.
  var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
  }
}

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
