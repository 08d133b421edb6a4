import JSONRPC
import SDKProtocol

/// The maximum sizes, in bytes of UTF-8, of texts from vendors, providers and callers that are stored and shown.
enum TextLimits {
  /// The maximum size, in bytes, of an id, such as a user's or an app's.
  static let id = 256
  /// The maximum size, in bytes, of a name or an e-mail address.
  static let name = 512
  /// The maximum size, in bytes, of a token.
  static let token = 16_384

  /// Whether a text has 1 to `id` bytes, as an id must.
  static func isID(_ text: String) -> Bool { (1...id).contains(text.utf8.count) }

  /// Whether a text has at most `name` bytes, as a name or an e-mail address must.
  static func isName(_ text: String) -> Bool { text.utf8.count <= name }

  /// Returns a vendor's name or e-mail address, truncated to at most `TextLimits.name` bytes.
  static func clipped(_ name: String) -> String { name.clipped(toUTF8: Self.name) }
}

/// The rule for ids from settings that are inserted into paths and headers.
enum IdentifierRule {
  /// Checks the id that a setting holds.
  ///
  /// - Throws: `invalidAuthParameters` with the setting.
  static func check(_ text: String, setting: String) throws(SDKError) {
    guard !(1...128).contains(text.utf8.count) || !text.utf8.allSatisfy(isAllowed) else { return }
    throw SDKError(
      .local, .invalidAuthParameters,
      "The setting \(setting) must have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore and hyphen.",
      member: setting)
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
    default: false
    }
  }
}
