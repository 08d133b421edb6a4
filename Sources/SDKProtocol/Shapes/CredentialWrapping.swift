internal import JSONRPC

/// The characters around a credential that was copied with its surroundings: a byte order mark, quotation marks, the
/// scheme of a header.
///
/// A JWT shows where it begins and ends, so the wrapping can be removed. For an opaque credential it can only be named:
/// the characters might belong to it.
public struct CredentialWrapping: Sendable, Hashable {
  /// The text without the wrapping and without white space at both ends.
  public let content: String
  /// The parts of the wrapping as a noun phrase, such as `quotation marks and the word Bearer`; `nil` if there are none.
  public let description: String?

  /// The largest number of parts that are removed.
  private static let most = 8
  private static let quotationMarks: [(Unicode.Scalar, Unicode.Scalar)] = [
    ("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’"), ("«", "»"),
  ]
  private static let words = ["authorization:", "bearer"]

  /// Finds the wrapping of a text.
  public init(_ text: String) {
    var rest = text.unicodeScalars[...]
    var parts: [String] = []
    for _ in 0..<Self.most {
      Self.trim(&rest)
      guard let part = Self.removeOne(&rest) else { break }
      if !parts.contains(part) { parts.append(part) }
    }
    content = String(rest)
    description = parts.isEmpty ? nil : parts.joined(separator: " and ")
  }

  /// Returns a JWT without its wrapping. Any other text is returned unchanged.
  public static func removed(fromJWT text: Secret) -> Secret {
    let wrapping = CredentialWrapping(text.reveal())
    guard wrapping.description != nil, DecodedJWT(wrapping.content) != nil else { return text }
    return Secret(wrapping.content)
  }

  private static func trim(_ text: inout String.UnicodeScalarView.SubSequence) {
    while let first = text.first, first.properties.isWhitespace { text.removeFirst() }
    while let last = text.last, last.properties.isWhitespace { text.removeLast() }
  }

  /// Removes one part of the wrapping and returns its name; `nil` if there is none.
  private static func removeOne(_ text: inout String.UnicodeScalarView.SubSequence) -> String? {
    if text.first == "\u{FEFF}" {
      text.removeFirst()
      return "a byte order mark"
    }
    for (opening, closing) in quotationMarks where text.first == opening && text.dropFirst().last == closing {
      text.removeFirst()
      text.removeLast()
      return "quotation marks"
    }
    for word in words {
      let start = String(String.UnicodeScalarView(text.prefix(word.unicodeScalars.count)))
      guard start.lowercased() == word else { continue }
      let rest = text.dropFirst(word.unicodeScalars.count)
      guard word.hasSuffix(":") || rest.first?.properties.isWhitespace == true else { continue }
      text = rest
      return "the word \(start)"
    }
    return nil
  }
}

extension Secret {
  /// The reason why a file's content is not used as a secret.
  public struct Unusable: Error, Sendable, Hashable, CustomStringConvertible {
    /// The predicate of a sentence about the file.
    public let description: String
  }

  /// Creates a secret from the content of a file, without the line ends after it.
  ///
  /// - Throws: `Unusable` for a file without text, and for one whose text is wrapped: what the vendor gets must be the
  ///   secret alone.
  public init(fileContent bytes: [UInt8]) throws(Unusable) {
    guard !ByteOrderMark.isUTF16(bytes) else { throw Unusable(description: ByteOrderMark.utf16Predicate) }
    let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
    guard end > 0 else { throw Unusable(description: "is empty") }
    guard !bytes[..<end].contains(0), let text = String(validating: bytes[..<end], as: UTF8.self) else {
      throw Unusable(description: "is not valid UTF-8 without NUL characters")
    }
    if let wrapping = CredentialWrapping(text).description {
      throw Unusable(description: "has \(wrapping) around the secret; write the secret alone")
    }
    self.init(text)
  }
}
