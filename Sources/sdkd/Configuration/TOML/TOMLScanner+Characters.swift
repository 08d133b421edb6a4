extension TOMLScanner {
  /// The next byte; `nil` at the end.
  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  /// Whether these bytes come next.
  func follows(_ expected: [UInt8]) -> Bool {
    position + expected.count <= bytes.count && bytes[position..<position + expected.count].elementsEqual(expected)
  }

  /// Takes a character if it comes next.
  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func expect(_ character: Unicode.Scalar) throws(Stop) {
    guard take(character) else { throw .confused }
  }

  mutating func skipSpaces() {
    while let byte = peek, byte == 0x20 || byte == 0x09 { position += 1 }
  }

  /// Skips spaces, carriage returns and comments, and the ends of lines too if they mean nothing here.
  mutating func skipBlanks(andLines: Bool) {
    while let byte = peek {
      switch byte {
      case 0x20, 0x09, 0x0D: position += 1
      case UInt8(ascii: "#"): while let byte = peek, byte != 0x0A { _ = byte; position += 1 }
      case 0x0A where andLines:
        position += 1
        line += 1
      default: return
      }
    }
  }

  func refusal(_ message: String) -> Stop { .refused(TOMLSyntaxProblem(line: line, message: message)) }
}
