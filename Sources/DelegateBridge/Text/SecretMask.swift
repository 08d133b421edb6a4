/// A filter that masks apparent tokens in a text for the journal or a caller.
///
/// It prefers masking too much: a long identifier in a log line may be masked as well.
struct SecretMask {
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
    case nothing, separator, value
    /// Like `separator`, after the name of a header whose whole value is a secret.
    case headerSeparator
    /// The rest of a line, or of a text in quotation marks, is secret. `isQuoted` is `nil` before its first character.
    case rest(isQuoted: Bool?)
  }

  private var result = String.UnicodeScalarView()
  private var expectation = Expectation.nothing

  /// Returns the text with its secrets masked.
  static func mask(_ text: some StringProtocol) -> String {
    var mask = SecretMask()
    let scalars = withoutUserInfo(Array(text.unicodeScalars))
    var index = 0
    while index < scalars.count {
      let start = index
      while index < scalars.count, isWord(scalars[index]) { index += 1 }
      if index > start {
        mask.take(word: scalars[start..<index])
      } else {
        mask.take(separator: scalars[index])
        index += 1
      }
    }
    return String(mask.result)
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

  private mutating func take(separator: Unicode.Scalar) {
    result.append(separator)
    switch (expectation, separator) {
    case (.rest, "\n"), (.rest, "\r"), (.rest(isQuoted: true), "\""): expectation = .nothing
    case (.rest(isQuoted: nil), "\""): expectation = .rest(isQuoted: true)
    case (.rest, _): break
    case (.separator, ":"): expectation = .value
    case (.headerSeparator, ":"): expectation = .rest(isQuoted: nil)
    case (.value, "["): break
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
      expectation = .value
    } else if expectation == .value, word.contains(where: { $0 != "=" }) {
      hide()
    } else if word.allSatisfy({ $0 == "=" }) {
      result.append(contentsOf: word)
      if expectation == .separator { expectation = .value }
      if expectation == .headerSeparator { expectation = .rest(isQuoted: nil) }
    } else if let equals = word.firstIndex(of: "="), Self.introduces(word[..<equals]), !Self.isSecret(word[..<equals]) {
      result.append(contentsOf: word[...equals])
      if word.index(after: equals) < word.endIndex { hide() } else { expectation = .value }
    } else if Self.isSecret(word) {
      hide()
    } else {
      result.append(contentsOf: word)
      expectation = Self.isHeader(word) ? .headerSeparator : Self.introduces(word) ? .separator : .nothing
    }
  }

  private mutating func hide() {
    result.append(contentsOf: Self.mark.unicodeScalars)
    expectation = .nothing
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "+/_-=.~%".unicodeScalars.contains(scalar)
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
    // A path or a host name is long as a whole, so look at the parts between the dots and, in a path, the slashes.
    let isPath = word.first == "/" || word.starts(with: "./".unicodeScalars)
    return word.split { $0 == "." || (isPath && $0 == "/") }.contains { part in
      part.count >= longRun && part.count { ("0"..."9").contains($0) || $0.properties.isAlphabetic } >= longRun / 2
    } || word.split { $0 == "=" || $0 == "/" }.contains { $0.starts(with: "eyJ".unicodeScalars) && $0.count >= 8 }
  }
}
