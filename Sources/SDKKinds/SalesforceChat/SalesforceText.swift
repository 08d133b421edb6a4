import SDKProtocol

/// The rules for texts that are inserted into URLs, headers and forms.
enum SalesforceText {
  /// Whether a text can be a token: printable ASCII without spaces, so that it is a single header value.
  static func isToken(_ secret: Secret) -> Bool { isPrintable(secret.reveal(), atMost: 16_384) }

  /// Whether a text can be an id of the vendor: printable ASCII without spaces.
  static func isIdentifier(_ text: String) -> Bool { isPrintable(text, atMost: 512) }

  private static func isPrintable(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// Returns a URL that paths can be appended to, without slashes at its end; `nil` for one with a query or a fragment.
  static func base(_ url: String) -> String? {
    guard !url.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    return url
  }
}
