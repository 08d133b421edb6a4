extension TOMLScanner {
  /// Scans a string of one of the four kinds.
  ///
  /// - Returns: its content, except line endings that long strings omit.
  mutating func string(allowsLines: Bool) throws(TOMLSyntaxProblem) -> [UInt8] {
    let start = line
    guard let quote = peek else { throw problem("A string is expected.") }
    let isLong = allowsLines && follows([quote, quote, quote])
    let ending = [UInt8](repeating: quote, count: isLong ? 3 : 1)
    position += ending.count
    var content: [UInt8] = []
    while let byte = peek {
      if byte == quote, follows(ending) {
        position += ending.count
        // Up to two quotes may come right before the three that end a long string.
        for _ in 0..<2 where isLong && peek == quote { position += 1 }
        return content
      }
      if byte == 0x0A {
        guard isLong else { break }
        line += 1
      }
      guard byte != 0 else { throw problem("A NUL character can't stand in a configuration.") }
      position += 1
      if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        content += try escaped(endsLines: isLong)
      } else {
        content.append(byte)
      }
    }
    throw TOMLSyntaxProblem(line: start, message: "A string that begins here is not closed.")
  }

  /// Scans the escape sequence after a backslash and returns its bytes.
  private mutating func escaped(endsLines: Bool) throws(TOMLSyntaxProblem) -> [UInt8] {
    let start = position
    if endsLines {
      // The caller counts the line ending itself.
      while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0D { position += 1 }
      if peek == 0x0A { return [] }
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
    // The parser's strings end at a NUL, so a value would be truncated silently.
    guard number != 0 else { throw problem("A NUL character can't stand in a configuration.") }
    position += digits
    return Array(String(scalar).utf8)
  }
}

extension TOMLScanner {
  /// The next byte; `nil` at the end.
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Returns whether these bytes come next.
  func follows(_ expected: [UInt8]) -> Bool { bytes[position...].starts(with: expected) }

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

  /// Skips spaces, carriage returns and comments; line feeds too if `andLines` is true.
  mutating func skipBlanks(andLines: Bool) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09, 0x0D: position += 1
      case UInt8(ascii: "#"): position = bytes[position...].firstIndex(of: 0x0A) ?? bytes.count
      case 0x0A where andLines:
        position += 1
        line += 1
      default: return
      }
    }
  }

  func problem(_ message: String) -> TOMLSyntaxProblem { TOMLSyntaxProblem(line: line, message: message) }
}
