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

/// A user of an organisation, as the identity URL names them: `…/id/ORG/USER`.
struct SalesforceUserID: Sendable, Hashable {
  /// The organisation's id.
  let organization: String
  /// The user's id.
  let user: String

  /// Reads the user that an identity URL names; `nil` for a URL of another form.
  init?(identityURL: String) {
    let path = identityURL.prefix { $0 != "?" && $0 != "#" }.split(separator: "/", omittingEmptySubsequences: false)
    guard identityURL.utf8.count <= 2048, path.count > 5, path[path.count - 3] == "id" else { return nil }
    self.init(organization: String(path[path.count - 2]), user: String(path[path.count - 1]))
  }

  /// Creates a user with these ids; `nil` if one of them is invalid.
  init?(organization: String, user: String) {
    guard Self.isID(organization), Self.isID(user) else { return nil }
    self.organization = organization
    self.user = user
  }

  /// Whether both are the same user. An id has 15 characters, or 18 with a checksum, which is not compared.
  func isSame(as other: SalesforceUserID) -> Bool {
    Self.core(organization) == Self.core(other.organization) && Self.core(user) == Self.core(other.user)
  }

  private static func core(_ id: String) -> String { id.utf8.count == 18 ? String(id.prefix(15)) : id }

  private static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
      }
  }
}
