import SDKProtocol

/// Checks of a unique id that need no network.
enum SupportLint {
  /// The minimum number of characters of a unique id that is hard to guess.
  static let fewestCharacters = 16
  /// The maximum size of a unique id, in bytes.
  static let mostBytes = 8192

  /// Returns hints on faults of a unique id that the vendor does not report: a JWT or an e-mail address in its place,
  /// or too few characters.
  static func findings(_ id: Secret) -> [String] {
    let text = id.reveal()
    var found: [String] = []
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 3, parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isBase64URL) }), text.hasPrefix("ey") {
      found.append(
        "token: it looks like a JWT; an opaque id belongs here, which the customer's endpoint answers with one")
    } else if let at = text.firstIndex(of: "@"), at != text.startIndex, text[at...].dropFirst().contains(".") {
      found.append("token: it looks like an e-mail address, which others can guess")
    } else if text.count < fewestCharacters {
      found.append("token: it has fewer than \(fewestCharacters) characters, which others can guess")
    }
    return found
  }

  /// Checks that a unique id is neither blank nor too long, and returns the hints.
  ///
  /// - Throws: `invalidIdentifier`; `invalidAuthParameters` for the word of a failed program in its place;
  ///   `weakIdentifier` when `isStrict` is set and there are hints.
  static func check(_ id: Secret, isStrict: Bool) throws(SDKError) -> [String] {
    guard id.reveal().contains(where: { !$0.isWhitespace }), id.reveal().utf8.count <= mostBytes else {
      throw SDKError(
        .local, .invalidIdentifier,
        "The unique id must have 1 to \(mostBytes) bytes; leave token out to have the token provider supply it.",
        member: "identity.token")
    }
    try OpaqueText.check((id, "unique id", "identity.token"))
    let findings = findings(id)
    if isStrict, let first = findings.first {
      throw SDKError(
        .local, .weakIdentifier, "The unique id is refused: \(first).", member: "identity.token", hints: findings)
    }
    return findings
  }

  private static func isBase64URL(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D
      || byte == 0x5F
  }
}
