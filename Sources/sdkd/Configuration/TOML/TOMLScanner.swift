/// A scanner that runs before the parser, records the line of each key, and rejects invalid TOML.
///
/// The parser is toml++. Some invalid texts, such as `[=` or a date with half a time, end the process by an assertion,
/// and very deep ones overflow its stack. So it gets only texts that this scanner accepts. The parser still parses the
/// values and detects duplicate definitions.
struct TOMLScanner {
  static let maximumKeys = 4096
  static let maximumKeyBytes = 256
  static let maximumKeyParts = 16
  static let maximumDepth = 32
  /// The number of elements whose lines are recorded. In longer arrays the later elements have the line of the array.
  static let maximumNotedElements = 1024

  let bytes: [UInt8]
  var position = 0
  var line = 1
  var index = TOMLLineIndex()
  private var keys = 0
  /// The path of the current table.
  private var base = ""
  /// The number of tables in each array of tables so far.
  private var tables: [String: Int] = [:]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the lines of the keys in a text.
  ///
  /// - Throws: the first part that is invalid TOML or not allowed in a configuration.
  static func scan(_ bytes: [UInt8]) throws(TOMLSyntaxProblem) -> TOMLLineIndex {
    var scanner = TOMLScanner(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
    while scanner.peek != nil { try scanner.scanLine() }
    return scanner.index
  }

  private mutating func scanLine() throws(TOMLSyntaxProblem) {
    skipBlanks(andLines: true)
    guard let byte = peek else { return }
    if byte == UInt8(ascii: "[") {
      try header()
    } else {
      try keyAndValue(in: base, depth: 0)
    }
    skipBlanks(andLines: false)
    guard peek == nil || peek == 0x0A else { throw problem("Something follows what the line says; begin a new line.") }
  }

  private mutating func header() throws(TOMLSyntaxProblem) {
    let start = line
    try expect("[", "at the start of a table")
    let isArray = take("[")
    let parts = try key()
    try expect("]", "after the name of the table")
    if isArray { try expect("]", "after the name of the array of tables") }
    var path = ""
    for (offset, part) in parts.enumerated() {
      path = path.appending(key: part)
      index.note(path, line: start)
      if isArray, offset == parts.count - 1 {
        let number = tables[path, default: 0]
        tables[path] = number + 1
        path += "[\(number)]"
      } else if let number = tables[path] {
        path += "[\(number - 1)]"
      }
    }
    index.note(path, line: start)
    base = path
  }

  /// Scans `key = value` in a table or an inline table.
  mutating func keyAndValue(in table: String, depth: Int) throws(TOMLSyntaxProblem) {
    let start = line
    var path = table
    for part in try key() {
      path = path.appending(key: part)
      index.note(path, line: start)
    }
    try expect("=", "after a key")
    try value(at: path, depth: depth)
  }

  /// Scans a key, dotted or not, with the blanks around it. Returns its parts.
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

/// The lines of the keys in a TOML text, for messages. Paths are those of schema findings: `access.create[0].prefix`.
struct TOMLLineIndex: Sendable {
  private var lines: [String: Int] = [:]

  /// The largest number of entries, which bounds the memory for an unusual text.
  private static let capacity = 16_384

  /// Records the line of a key; only the first call for a path counts.
  mutating func note(_ path: String, line: Int) {
    if lines[path] == nil, lines.count < Self.capacity { lines[path] = line }
  }

  /// Returns whether a key's own line is known.
  func has(_ path: String) -> Bool { lines[path] != nil }

  /// Returns the line of a key, or of the nearest table around it, or 1.
  func line(of path: String) -> Int {
    var path = Substring(path)
    while !path.isEmpty {
      if let line = lines[String(path)] { return line }
      guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { break }
      path = path[..<end]
    }
    return 1
  }
}

/// The reason why a TOML text is rejected.
struct TOMLSyntaxProblem: Error, Sendable, Hashable {
  /// The line, from 1.
  var line: Int
  /// The problem.
  var message: String
}

extension String {
  /// Returns the dotted path of a key in the table at this path; the empty path is the root.
  func appending(key: String) -> String { isEmpty ? key : "\(self).\(key)" }
}
