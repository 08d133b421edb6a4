import SDKProtocol

/// What texts must look like that go into URLs, headers and forms.
enum SalesforceText {
  /// A token: printable ASCII without spaces, so that it is one header's value and nothing more.
  static func isToken(_ secret: Secret) -> Bool { isPrintable(secret.reveal(), atMost: 16_384) }

  /// An id of the vendor's.
  static func isIdentifier(_ text: String) -> Bool { isPrintable(text, atMost: 512) }

  private static func isPrintable(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// A URL to which paths are added; `nil` for one with a query or a fragment.
  static func base(_ url: String) -> String? {
    guard !url.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return nil }
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    return url
  }
}
