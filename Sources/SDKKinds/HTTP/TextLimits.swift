import JSONRPC

/// The maximum sizes, in bytes of UTF-8, of texts from vendors, providers and callers that are stored and shown.
enum TextLimits {
  /// The maximum size of an id.
  static let id = 256
  /// The maximum size of a name or an e-mail address.
  static let name = 512
  /// The maximum size of a token.
  static let token = 16_384

  /// Whether a text has a size that an id can have.
  static func isID(_ text: String) -> Bool { (1...id).contains(text.utf8.count) }

  /// Whether a text is short enough for a name or an e-mail address.
  static func isName(_ text: String) -> Bool { text.utf8.count <= name }

  /// Returns a vendor's name or e-mail address, truncated to the maximum size.
  static func clipped(_ name: String) -> String { name.clipped(toUTF8: Self.name) }
}
