import JSONRPC

/// The bounds, in UTF-8 bytes, of texts that come from vendors, providers and callers and are kept and shown.
enum TextLimits {
  /// The bytes of an id.
  static let id = 256
  /// The bytes of a name or an e-mail address.
  static let name = 512
  /// The bytes of a token.
  static let token = 16_384

  /// Whether a text can be an id.
  static func isID(_ text: String) -> Bool { (1...id).contains(text.utf8.count) }

  /// Whether a text is short enough for a name or an e-mail address.
  static func isName(_ text: String) -> Bool { text.utf8.count <= name }

  /// A vendor's name or e-mail address, cut to what is kept.
  static func clipped(_ name: String) -> String { name.clipped(toUTF8: Self.name) }
}
