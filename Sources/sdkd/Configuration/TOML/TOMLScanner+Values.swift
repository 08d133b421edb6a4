extension TOMLScanner {
  /// A value of any kind; of arrays and inline tables what is in them is noted too.
  mutating func value(at path: String, depth: Int) throws(Stop) {
    guard depth <= Self.maximumDepth else { throw refusal("Values are nested more than \(Self.maximumDepth) deep.") }
    skipSpaces()
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try string(allowsLines: true)
    case UInt8(ascii: "["): try array(at: path, depth: depth)
    case UInt8(ascii: "{"): try inlineTable(at: path, depth: depth)
    default:
      let start = position
      while let byte = peek, byte != 0x0A, !Self.endsWord.contains(byte) { position += 1 }
      guard position > start else { throw .confused }
    }
  }

  private static let endsWord: [UInt8] = [
    UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "#"),
  ]

  private mutating func array(at path: String, depth: Int) throws(Stop) {
    try expect("[")
    var count = 0
    while true {
      skipBlanks(andLines: true)
      if take("]") { return }
      let element = "\(path)[\(count)]"
      if count < Self.maximumNotedElements { index.note(element, line: line) }
      try value(at: element, depth: depth + 1)
      count += 1
      skipBlanks(andLines: true)
      if take(",") { continue }
      try expect("]")
      return
    }
  }

  private mutating func inlineTable(at path: String, depth: Int) throws(Stop) {
    try expect("{")
    while true {
      skipBlanks(andLines: true)
      if take("}") { return }
      try keyAndValue(in: path, depth: depth + 1)
      skipBlanks(andLines: true)
      if take(",") { continue }
      try expect("}")
      return
    }
  }

  /// A string of one of the four kinds; gives what it says, without the care for detail that only its value would need.
  mutating func string(allowsLines: Bool) throws(Stop) -> [UInt8] {
    guard let quote = peek else { throw .confused }
    let isLiteral = quote == UInt8(ascii: "'")
    if allowsLines, follows([quote, quote, quote]) {
      position += 3
      return try string(quote, closedBy: 3, isLiteral: isLiteral)
    }
    position += 1
    return try string(quote, closedBy: 1, isLiteral: isLiteral)
  }

  private mutating func string(_ quote: UInt8, closedBy quotes: Int, isLiteral: Bool) throws(Stop) -> [UInt8] {
    let ending = [UInt8](repeating: quote, count: quotes)
    var content: [UInt8] = []
    while let byte = peek {
      if byte == quote, follows(ending) {
        position += quotes
        // Up to two quotes may stand right before the three that end a long string.
        var extra = 0
        while quotes == 3, extra < 2, peek == quote {
          position += 1
          extra += 1
        }
        return content
      }
      if byte == 0x0A {
        guard quotes == 3 else { throw .confused }
        line += 1
      }
      position += 1
      if byte == UInt8(ascii: "\\"), !isLiteral {
        content += try escaped()
      } else {
        content.append(byte)
      }
    }
    throw .confused
  }

  /// What follows a backslash.
  private mutating func escaped() throws(Stop) -> [UInt8] {
    guard let byte = peek else { throw .confused }
    // The end of a line after a backslash is left for the caller to count.
    if byte == 0x0A { return [] }
    position += 1
    switch byte {
    case UInt8(ascii: "u"): return try scalar(digits: 4)
    case UInt8(ascii: "U"): return try scalar(digits: 8)
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "r"): return [0x0D]
    default: return [byte]
    }
  }

  private mutating func scalar(digits: Int) throws(Stop) -> [UInt8] {
    guard position + digits <= bytes.count else { throw .confused }
    let text = String(decoding: bytes[position..<position + digits], as: UTF8.self)
    guard let number = UInt32(text, radix: 16), let scalar = Unicode.Scalar(number) else { throw .confused }
    // The parser's strings end at a NUL, so a value would be cut short without a word.
    guard number != 0 else { throw refusal("A NUL character can't stand in a configuration.") }
    position += digits
    return Array(String(scalar).utf8)
  }
}
