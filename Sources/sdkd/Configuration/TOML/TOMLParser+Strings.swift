extension TOMLParser {
  /// Parses a string of one of the four kinds.
  mutating func string(allowsLines: Bool) throws(TOMLSyntaxProblem) -> [UInt8] {
    let start = line
    guard let quote = peek else { throw problem("A string is expected.") }
    let isLong = allowsLines && follows([quote, quote, quote])
    let ending = [UInt8](repeating: quote, count: isLong ? 3 : 1)
    position += ending.count
    if isLong { skipLineEnding() }
    var content: [UInt8] = []
    while let byte = peek {
      if byte == quote, follows(ending) {
        position += ending.count
        // Up to two quotes may come right before the three that end a long string.
        for _ in 0..<2 where isLong && peek == quote {
          position += 1
          content.append(quote)
        }
        return content
      }
      if isLong, followsLineEnding {
        line += 1
        if byte == 0x0D {
          content.append(byte)
          position += 1
        }
        content.append(0x0A)
        position += 1
        continue
      }
      if byte == 0x0A { break }
      guard !Self.isControl(byte) else {
        throw problem("A control character stands in a string; write it as \\u00XX in double quotes.")
      }
      position += 1
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        content += try escaped(endsLines: isLong)
      } else {
        content.append(byte)
      }
    }
    throw TOMLSyntaxProblem(line: start, message: "A string that begins here is not closed.")
  }

  /// Parses the escape sequence after a backslash and returns its bytes.
  private mutating func escaped(endsLines: Bool) throws(TOMLSyntaxProblem) -> [UInt8] {
    let start = position
    if endsLines {
      skipSpaces()
      if followsLineEnding {
        while peek == 0x20 || peek == 0x09 || followsLineEnding { if !skipLineEnding() { position += 1 } }
        return []
      }
      position = start
    }
    guard let byte = peek else { return [] }
    position += 1
    switch byte {
    case UInt8(ascii: "u"): return try scalar(digits: 4)
    case UInt8(ascii: "U"): return try scalar(digits: 8)
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): return [byte]
    default:
      position = start
      throw problem("A backslash stands before one of b t n f r u U \" \\; in single quotes it means itself.")
    }
  }

  private mutating func scalar(digits: Int) throws(TOMLSyntaxProblem) -> [UInt8] {
    let text = bytes[position...].prefix(digits)
    guard text.count == digits, text.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let number = UInt32(String(decoding: text, as: UTF8.self), radix: 16), let scalar = Unicode.Scalar(number)
    else { throw problem("A Unicode escape has \(digits) hexadecimal digits of a character.") }
    // Paths and arguments of system calls end at a NUL, so such a value would be truncated silently.
    guard number != 0 else { throw problem("A NUL character can't stand in a configuration.") }
    position += digits
    return Array(String(scalar).utf8)
  }
}

extension TOMLParser {
  /// The next byte; `nil` at the end.
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Returns whether these bytes come next.
  func follows(_ expected: [UInt8]) -> Bool { bytes[position...].starts(with: expected) }

  /// Whether a line feed comes next, or a carriage return with a line feed.
  var followsLineEnding: Bool { peek == 0x0A || follows([0x0D, 0x0A]) }

  /// Skips a line ending if it comes next. Returns whether it did.
  @discardableResult
  mutating func skipLineEnding() -> Bool {
    guard followsLineEnding else { return false }
    position += peek == 0x0D ? 2 : 1
    line += 1
    return true
  }

  /// Returns whether a byte is a control character other than a tab.
  static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

  /// Consumes a character if it comes next. Returns whether it did.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Consumes a character that must come next.
  mutating func expect(_ character: Unicode.Scalar, _ place: String) throws(TOMLSyntaxProblem) {
    guard take(character) else { throw problem("\(character) is expected \(place).") }
  }

  mutating func skipSpaces() {
    while let byte = peek, byte == 0x20 || byte == 0x09 { position += 1 }
  }

  /// Skips spaces and comments, and the carriage return before a line feed. Skips line endings too if `andLines` is
  /// true.
  mutating func skipBlanks(andLines: Bool) throws(TOMLSyntaxProblem) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09: position += 1
      case UInt8(ascii: "#"): try skipComment()
      case 0x0D where follows([0x0D, 0x0A]): position += 1
      case 0x0A where andLines: skipLineEnding()
      default: return
      }
    }
  }

  private mutating func skipComment() throws(TOMLSyntaxProblem) {
    while let byte = peek, !followsLineEnding {
      guard !Self.isControl(byte) else { throw problem("A control character stands in a comment.") }
      position += 1
    }
  }

  func problem(_ message: String) -> TOMLSyntaxProblem { TOMLSyntaxProblem(line: line, message: message) }
}
