/// A filter that masks apparent tokens in a text for an event, the journal or a caller.
///
/// It prefers masking too much: a long identifier in a log line may be masked as well. `SentSecrets` masks secrets that
/// are known.
public struct SecretMask {
  /// The replacement for a secret.
  static let mark = "‹masked›"

  /// The number of characters from which a run of letters and digits counts as a secret.
  static let longRun = 24

  private typealias Word = ArraySlice<Unicode.Scalar>

  private static let names = [
    "token", "password", "passwd", "pwd", "passphrase", "secret", "authorization", "apikey", "_key", "-key",
    "credential", "credentials", "cookie", "assertion", "signature", "jwt", "sessionid", "session_id",
  ]

  /// The expectation that the preceding words raise for the next one.
  private enum Expectation: Equatable {
    case nothing, separator
    /// The next word is secret. `quote` is the quotation mark before it.
    case value(quote: Quote?)
    /// Like `separator`, after the name of a header whose whole value is a secret.
    case headerSeparator
    /// The rest of a line, or of a text in quotation marks, is secret. `isQuoted` is `nil` before its first character.
    case rest(isQuoted: Bool?)
  }

  /// A quotation mark, which a text in a text has with a backslash before it.
  private struct Quote: Equatable {
    var mark: Unicode.Scalar
    var isEscaped: Bool
  }

  private let scalars: [Unicode.Scalar]
  private var index = 0
  private var result = String.UnicodeScalarView()
  private var expectation = Expectation.nothing

  private init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

  /// Returns the text with its secrets masked.
  public static func mask(_ text: some StringProtocol) -> String {
    var mask = SecretMask(withoutUserInfo(Array(text.unicodeScalars)))
    mask.run()
    return String(mask.result)
  }

  private mutating func run() {
    while index < scalars.count {
      let start = index
      while index < scalars.count, Self.isWord(scalars[index]) { index += 1 }
      let word = scalars[start..<index]
      if case .value(let quote) = expectation, beginsValue(word), !Self.isScheme(word) {
        index = endOfValue(from: start, in: quote)
        hide()
      } else if word.isEmpty {
        index += 1
        take(separator: scalars[start], after: start > 0 ? scalars[start - 1] : nil)
      } else {
        take(word: word)
      }
    }
  }

  /// Whether a secret value begins at the current place: with a word, or with a character that is no separator.
  private func beginsValue(_ word: Word) -> Bool {
    if !word.isEmpty { return word.contains { $0 != "=" } }
    return !" \t\r\n\"'\\:[{(,;&".unicodeScalars.contains(scalars[index])
  }

  /// Returns the end of a secret value: the closing quotation mark or, without one, white space, `&`, `,` or `;`.
  private func endOfValue(from start: Int, in quote: Quote?) -> Int {
    var end = start
    while end < scalars.count {
      let scalar = scalars[end]
      if let quote {
        let isEscaped = end > start && scalars[end - 1] == "\\"
        if scalar == quote.mark, isEscaped == quote.isEscaped { return isEscaped ? end - 1 : end }
        if scalar == "\n" || scalar == "\r" { return end }
      } else if scalar.properties.isWhitespace || "&,;".unicodeScalars.contains(scalar) {
        return end
      }
      end += 1
    }
    return end
  }

  /// Masks the user information before the host of a URL: a user and a password, or a token.
  private static func withoutUserInfo(_ scalars: [Unicode.Scalar]) -> [Unicode.Scalar] {
    guard scalars.contains("@") else { return scalars }
    var result: [Unicode.Scalar] = []
    var rest = scalars[...]
    let slashes = Array("://".unicodeScalars)
    while let scalar = rest.first {
      guard rest.starts(with: slashes) else {
        result.append(scalar)
        rest.removeFirst()
        continue
      }
      result += slashes
      rest = rest.dropFirst(slashes.count)
      let authority = rest.prefix { $0.value > 0x20 && !"/?#\"'<>".unicodeScalars.contains($0) }
      if let at = authority.lastIndex(of: "@") {
        result += mark.unicodeScalars
        rest = rest[at...]
      }
    }
    return result
  }

  private mutating func take(separator: Unicode.Scalar, after former: Unicode.Scalar?) {
    result.append(separator)
    switch (expectation, separator) {
    case (.rest, "\n"), (.rest, "\r"), (.rest(isQuoted: true), "\""): expectation = .nothing
    case (.rest(isQuoted: nil), "\""): expectation = .rest(isQuoted: true)
    case (.rest, _): break
    case (.separator, ":"): expectation = .value(quote: nil)
    case (.headerSeparator, ":"): expectation = .rest(isQuoted: nil)
    case (.value, "\""), (.value, "'"):
      expectation = .value(quote: Quote(mark: separator, isEscaped: former == "\\"))
    case (.value, "["), (.value, "{"), (.value, "("): break
    case (_, " "), (_, "\t"), (_, "\""), (_, "'"), (_, "\\"), (_, ":"): break
    default: expectation = .nothing
    }
  }

  private mutating func take(word: Word) {
    if case .rest(let isQuoted) = expectation {
      if Self.isScheme(word) { result.append(contentsOf: word) } else { hide() }
      expectation = .rest(isQuoted: isQuoted ?? false)
    } else if Self.isScheme(word) {
      result.append(contentsOf: word)
      if case .value = expectation { return }
      expectation = .value(quote: nil)
    } else if word.allSatisfy({ $0 == "=" }) {
      result.append(contentsOf: word)
      if expectation == .separator { expectation = .value(quote: nil) }
      if expectation == .headerSeparator { expectation = .rest(isQuoted: nil) }
    } else if let equals = word.firstIndex(of: "="), Self.introduces(word[..<equals]), !Self.isSecret(word[..<equals]) {
      // The value is read as one, since it may have characters that no word has.
      result.append(contentsOf: word[...equals])
      index = word.index(after: equals)
      expectation = .value(quote: nil)
    } else if Self.isSecret(word) {
      index = endOfSecret(from: index)
      hide()
    } else {
      result.append(contentsOf: word)
      expectation = Self.isHeader(word) ? .headerSeparator : Self.introduces(word) ? .separator : .nothing
    }
  }

  /// Returns the end of an apparent secret, which may go on with characters that no word has.
  private func endOfSecret(from start: Int) -> Int {
    let others = "$*^|".unicodeScalars
    return scalars[start...].firstIndex { !Self.isWord($0) && !others.contains($0) } ?? scalars.count
  }

  private mutating func hide() {
    result.append(contentsOf: Self.mark.unicodeScalars)
    expectation = .nothing
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "+/_-=.~%!".unicodeScalars.contains(scalar)
  }

  private static func text(_ word: Word) -> String { String(String.UnicodeScalarView(word)).lowercased() }

  private static func isScheme(_ word: Word) -> Bool { ["bearer", "basic", "digest"].contains(text(word)) }

  /// Whether a word is the name of a header whose whole value is a secret.
  private static func isHeader(_ word: Word) -> Bool {
    let text = text(word)
    return text == "cookie" || text.hasSuffix("authorization")
  }

  private static func introduces(_ word: Word) -> Bool {
    let text = text(word)
    return names.contains { text.hasSuffix($0) }
  }

  private static func isSecret(_ word: Word) -> Bool {
    if isSalesforce(word) { return true }
    // A path or a host name is long as a whole, so look at the parts between the dots and, in a path, the slashes.
    let isPath = word.first == "/" || word.starts(with: "./".unicodeScalars)
    return word.split { $0 == "." || (isPath && $0 == "/") }.contains { part in
      part.count >= longRun && part.count { ("0"..."9").contains($0) || $0.properties.isAlphabetic } >= longRun / 2
        && !isErrorCode(part)
    } || word.split { $0 == "=" || $0 == "/" }.contains { $0.starts(with: "eyJ".unicodeScalars) && $0.count >= 8 }
  }

  /// Whether a word is a token of Salesforce: an access token, which begins with the id of an organisation and an
  /// exclamation mark, or a refresh token.
  private static func isSalesforce(_ word: Word) -> Bool {
    word.split(separator: "=").contains { part in
      part.starts(with: "5Aep".unicodeScalars) && part.count >= 8
        || part.starts(with: "00D".unicodeScalars) && part.firstIndex(of: "!").map { $0 < part.endIndex - 1 } ?? false
    }
  }

  /// Whether a text is the name of an error, such as `CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY`: capital letters with
  /// underscores between them.
  private static func isErrorCode(_ text: Word) -> Bool {
    text.contains("_") && text.allSatisfy { ("A"..."Z").contains($0) || $0 == "_" }
  }
}
