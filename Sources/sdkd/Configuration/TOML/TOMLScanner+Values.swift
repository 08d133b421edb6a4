extension TOMLScanner {
  /// Scans a value of any kind. Also records the lines of elements in arrays and of keys in inline tables.
  mutating func value(at path: String, depth: Int) throws(TOMLSyntaxProblem) {
    guard depth <= Self.maximumDepth else { throw problem("Values are nested more than \(Self.maximumDepth) deep.") }
    skipSpaces()
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): _ = try string(allowsLines: true)
    case UInt8(ascii: "["): try array(at: path, depth: depth)
    case UInt8(ascii: "{"): try inlineTable(at: path, depth: depth)
    default: try word()
    }
  }

  private mutating func array(at path: String, depth: Int) throws(TOMLSyntaxProblem) {
    try expect("[", "at the start of an array")
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
      try expect("]", "or a comma after a value in an array")
      return
    }
  }

  private mutating func inlineTable(at path: String, depth: Int) throws(TOMLSyntaxProblem) {
    try expect("{", "at the start of a table")
    while true {
      skipBlanks(andLines: false)
      if take("}") { return }
      try keyAndValue(in: path, depth: depth + 1)
      skipBlanks(andLines: false)
      if take(",") { continue }
      try expect("}", "or a comma after a value in a table, on the same line")
      return
    }
  }

  /// Scans a number, `true` or `false`.
  private mutating func word() throws(TOMLSyntaxProblem) {
    let start = position
    while let byte = peek, Self.isBare(byte) || Self.alsoInWords.contains(byte) { position += 1 }
    let word = bytes[start..<position]
    guard !word.isEmpty else { throw problem("A value is expected; text stands in quotes.") }
    switch TOMLWord(word) {
    case .right: return
    case .date: throw problem("Dates and times have no meaning here; text stands in quotes.")
    case .infinite: throw problem("A number must be finite; inf and nan have no meaning here.")
    case .wrong: throw problem("This is neither a number nor true or false; text stands in quotes.")
    }
  }

  private static let alsoInWords: [UInt8] = [UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ":")]
}
