import SDKProtocol

/// Checks of identifiers that need no network (the vendor's guide, "User identifier requirements").
enum EdnaIdentifier {
  /// The maximum size of an identifier. One that an app has encrypted with a large key still fits.
  static let maximumBytes = 1024

  /// Checks the size and characters of an identifier, and whether it can be guessed.
  ///
  /// - Parameters:
  ///   - isEncrypted: whether it is encrypted, by the app or by us.
  ///   - isSent: whether it is sent as it is, and not as a ciphertext.
  ///   - isStrict: whether an identifier that can be guessed is refused.
  /// - Returns: the hints.
  /// - Throws: `invalidIdentifier`, `weakIdentifier`.
  static func check(
    _ identifier: Secret, isEncrypted: Bool, isSent: Bool = true, isStrict: Bool
  ) throws(SDKError) -> [String] {
    let text = identifier.reveal()
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw SDKError(.local, .invalidIdentifier, "The identifier is empty; give the user's unique, persistent id.")
    }
    guard text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw SDKError(
        .local, .invalidIdentifier,
        "The identifier must have at most \(maximumBytes) bytes and no control characters.")
    }
    guard !isSent || text.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw SDKError(
        .local, .invalidIdentifier,
        "The identifier must be ASCII: it is sent in a header, and the vendor's SDKs send no other there.",
        member: "user.identifier",
        hints: ["user.identifier: use another id of the user, or encrypt it with identifier_public_key"])
    }
    guard !isEncrypted, let likeness = likeness(of: text) else { return [] }
    let advice = "The identifier looks like \(likeness): it can be guessed. Use a random id, or encrypt it"
    if isStrict {
      throw SDKError(.local, .weakIdentifier, "\(advice) (identifier_public_key).", hints: ["weakIdentifier"])
    }
    return ["weakIdentifier: it looks like \(likeness) and can be guessed; use a random id, or encrypt it"]
  }

  /// Returns the kind of public knowledge that a text looks like: an e-mail address, a phone number, or `nil` for
  /// neither.
  private static func likeness(of text: String) -> String? {
    let text = text.filter { !$0.isWhitespace }
    let parts = text.split(separator: "@", omittingEmptySubsequences: false)
    if parts.count == 2, !parts[0].isEmpty, parts[1].contains("."), !parts[1].hasPrefix("."), !parts[1].hasSuffix(".") {
      return "an e-mail address"
    }
    let digits = text.utf8.count { (0x30...0x39).contains($0) }
    let others = text.utf8.filter { !(0x30...0x39).contains($0) }
    if (7...15).contains(digits), others.allSatisfy("+-().".utf8.contains) { return "a phone number" }
    return nil
  }
}
