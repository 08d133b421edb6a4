import JSONRPC

extension TOMLParser {
  /// Parses a value of any kind. Also records the lines of elements in arrays and of keys in inline tables.
  mutating func value(at path: String, depth: Int) throws(TOMLSyntaxProblem) -> JSON {
    guard depth <= Self.maximumDepth else { throw problem("Values are nested more than \(Self.maximumDepth) deep.") }
    skipSpaces()
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"):
      return .string(String(decoding: try string(allowsLines: true), as: UTF8.self))
    case UInt8(ascii: "["): return .array(try array(at: path, depth: depth))
    case UInt8(ascii: "{"): return .object(try inlineTable(at: path, depth: depth))
    default: return try word()
    }
  }

  private mutating func array(at path: String, depth: Int) throws(TOMLSyntaxProblem) -> [JSON] {
    let start = line
    try expect("[", "at the start of an array")
    var elements: [JSON] = []
    while true {
      try skipBlanks(andLines: true)
      if take("]") { return elements }
      guard peek != nil else {
        throw TOMLSyntaxProblem(line: start, message: "An array that begins here is not closed.")
      }
      let element = "\(path)[\(elements.count)]"
      if elements.count < Self.maximumNotedElements { index.note(element: element, line: line) }
      elements.append(try value(at: element, depth: depth + 1))
      try skipBlanks(andLines: true)
      if take(",") { continue }
      try expect("]", "or a comma after a value in an array")
      return elements
    }
  }

  private mutating func inlineTable(at path: String, depth: Int) throws(TOMLSyntaxProblem) -> JSONObject {
    try expect("{", "at the start of a table")
    let table = TOMLTable(.header)
    try skipBlanks(andLines: false)
    if take("}") { return table.object }
    while true {
      try skipBlanks(andLines: false)
      if followsLineEnding { throw problem("A table in braces stands on one line.") }
      if peek == UInt8(ascii: "}") { throw problem("No comma may stand before } in a table.") }
      try keyAndValue(in: table, at: path, depth: depth + 1)
      try skipBlanks(andLines: false)
      if take(",") { continue }
      try expect("}", "or a comma after a value in a table, on the same line")
      return table.object
    }
  }

  /// Parses a number, `true` or `false`.
  private mutating func word() throws(TOMLSyntaxProblem) -> JSON {
    let start = position
    while let byte = peek, Self.isBare(byte) || Self.alsoInWords.contains(byte) { position += 1 }
    let word = bytes[start..<position]
    guard !word.isEmpty else { throw problem("A value is expected; text stands in quotes.") }
    switch TOMLWord(word) {
    case .value(let value): return value
    case .date: throw problem("Dates and times have no meaning here; text stands in quotes.")
    case .infinite: throw problem("A number must be finite; inf and nan have no meaning here.")
    case .tooLarge: throw problem("This number is too large.")
    case .wrong: throw problem("This is neither a number nor true or false; text stands in quotes.")
    }
  }

  private static let alsoInWords: [UInt8] = [UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: ":")]
}
