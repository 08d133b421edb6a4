import SDKProtocol

/// The local gate of opaque credentials: texts that programs print in place of a credential, such as the `null` of a
/// script whose backend failed.
enum OpaqueText {
  private static let words: Set<String> = ["null", "undefined", "none", "nil", "true", "false"]

  /// Returns the reason why a text can't be a credential, as words after its name; `nil` if it can be one.
  ///
  /// - Parameter mayHaveScheme: whether the vendor takes a credential with the word `Bearer` before it.
  static func mistake(_ credential: Secret, mayHaveScheme: Bool = false) -> String? {
    let text = credential.reveal().drop { $0.isWhitespace }
    if let word = words.first(where: { text.lowercased().filter { !$0.isWhitespace } == $0 }) {
      return "is the word \(word), which programs print when they have none"
    }
    switch text.unicodeScalars.first {
    case "\"", "'", "`", "\u{201C}", "\u{2018}", "\u{AB}":
      return "begins with a quotation mark; remove the marks around it"
    case "<": return "begins with <, as a page of HTML does"
    case "\u{FEFF}": return "begins with a byte order mark; remove it"
    default: break
    }
    if !mayHaveScheme, let wrapping = CredentialWrapping(credential.reveal()).description {
      return "has \(wrapping) around it; give it alone"
    }
    return nil
  }

  /// Checks credentials of a caller.
  ///
  /// - Throws: `invalidAuthParameters` with the member at fault.
  static func check(
    _ credentials: (value: Secret?, name: String, member: String)..., mayHaveScheme: Bool = false
  ) throws(SDKError) {
    for (value, name, member) in credentials {
      guard let value, let mistake = mistake(value, mayHaveScheme: mayHaveScheme) else { continue }
      throw SDKError(.local, .invalidAuthParameters, "The \(name) \(mistake).", member: member)
    }
  }
}
