import JSONRPC

/// A parser of TOML that records the line of each key. It bounds keys, their paths and the depth, so that no text costs
/// much.
struct TOMLParser {
  static let maximumKeys = 4096
  static let maximumKeyBytes = 256
  static let maximumKeyParts = 16
  static let maximumDepth = 32
  /// The maximum length of the path of a key with all tables around it, in bytes.
  static let maximumPathBytes = 2048
  /// The number of elements whose lines are recorded. In longer arrays the later elements have the line of the array.
  static let maximumNotedElements = 1024

  let bytes: [UInt8]
  var position = 0
  var line = 1
  var index = TOMLLineIndex()
  private var keys = 0
  private let root = TOMLTable(.header)
  /// The table of the last header, and its path.
  private var current: TOMLTable
  private var base = ""

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    current = root
  }

  /// Returns the root table of a text without NUL characters, and the lines of its keys.
  ///
  /// - Throws: the first part that is invalid TOML or not allowed in a configuration.
  static func parse(_ bytes: [UInt8]) throws(TOMLSyntaxProblem) -> (root: JSONObject, lines: TOMLLineIndex) {
    var parser = TOMLParser(bytes)
    parser.position = ByteOrderMark.length(in: bytes)
    while parser.peek != nil { try parser.parseLine() }
    return (parser.root.object, parser.index)
  }

  private mutating func parseLine() throws(TOMLSyntaxProblem) {
    try skipBlanks(andLines: true)
    guard let byte = peek else { return }
    if byte == UInt8(ascii: "[") {
      try header()
    } else {
      try keyAndValue(in: current, at: base, depth: 0)
    }
    try skipBlanks(andLines: false)
    guard peek == nil || peek == 0x0A else { throw problem("Something follows what the line says; begin a new line.") }
  }

  private mutating func header() throws(TOMLSyntaxProblem) {
    let start = line
    try expect("[", "at the start of a table")
    let isArray = take("[")
    let parts = try key()
    try expect("]", "after the name of the table")
    if isArray { try expect("]", "after the name of the array of tables") }
    (current, base) = (root, "")
    for part in parts.dropLast() { try enter(part, from: start) }
    guard let last = parts.last else { return }
    let path = base.appending(key: last)
    let table = TOMLTable(.header)
    switch current[last] {
    case nil: current[last] = isArray ? .tables([table]) : .table(table)
    case .tables(let tables) where isArray: current[last] = .tables(tables + [table])
    case .table(let begun) where !isArray && begun.origin == .inner: begun.origin = .header
    default: throw problem("\(path) is defined twice.")
    }
    try enter(last, from: start)
  }

  /// Makes a member the current table, and begins it if it is missing.
  private mutating func enter(_ part: String, from start: Int) throws(TOMLSyntaxProblem) {
    base = try self.path(of: part, in: base)
    index.note(base, line: start)
    switch current[part] {
    case .table(let table): current = table
    case .tables(let tables):
      base += "[\(tables.count - 1)]"
      index.note(base, line: start)
      current = tables[tables.count - 1]
    case .value: throw problem("\(base) is a value already, and can't be a table too.")
    case nil:
      let table = TOMLTable(.inner)
      current[part] = .table(table)
      current = table
    }
  }

  /// Parses `key = value` in a table or an inline table.
  mutating func keyAndValue(in table: TOMLTable, at base: String, depth: Int) throws(TOMLSyntaxProblem) {
    let start = line
    let parts = try key()
    var (table, path) = (table, base)
    for part in parts.dropLast() {
      path = try self.path(of: part, in: path)
      index.note(path, line: start)
      switch table[part] {
      case .table(let begun) where begun.origin != .header:
        begun.origin = .dotted
        table = begun
      case nil:
        let new = TOMLTable(.dotted)
        table[part] = .table(new)
        table = new
      default: throw problem("\(path) is complete already: write this key below [\(path)], or in its braces.")
      }
    }
    guard let last = parts.last else { return }
    path = try self.path(of: last, in: path)
    index.note(path, line: start)
    guard table[last] == nil else { throw problem("\(path) is defined twice.") }
    try expect("=", "after a key")
    table[last] = .value(try value(at: path, depth: depth))
  }

  private func path(of key: String, in table: String) throws(TOMLSyntaxProblem) -> String {
    let path = table.appending(key: key)
    guard path.utf8.count <= Self.maximumPathBytes else {
      throw problem("A key with the tables around it is longer than \(Self.maximumPathBytes) bytes.")
    }
    return path
  }

  /// Parses a key, dotted or not, with the blanks around it. Returns its parts.
  private mutating func key() throws(TOMLSyntaxProblem) -> [String] {
    keys += 1
    guard keys <= Self.maximumKeys else { throw problem("The file has more than \(Self.maximumKeys) keys.") }
    var parts: [String] = []
    repeat {
      skipSpaces()
      parts.append(try keyPart())
      guard parts.count <= Self.maximumKeyParts else {
        throw problem("A key has more than \(Self.maximumKeyParts) parts.")
      }
      skipSpaces()
    } while take(".")
    return parts
  }

  private mutating func keyPart() throws(TOMLSyntaxProblem) -> String {
    var part: [UInt8] = []
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): part = try string(allowsLines: false)
    default:
      while let byte = peek, Self.isBare(byte) {
        part.append(byte)
        position += 1
      }
      guard !part.isEmpty else { throw problem("A key is expected: a-z, A-Z, 0-9, _ and -, or anything in quotes.") }
    }
    guard part.count <= Self.maximumKeyBytes else {
      throw problem("A key is longer than \(Self.maximumKeyBytes) bytes.")
    }
    return String(decoding: part, as: UTF8.self)
  }

  static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
