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
