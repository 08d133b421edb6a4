/// Walks through a TOML text just far enough to know on which line each key stands.
///
/// It is no parser: where it does not understand the text it stops, and the parser says what is wrong. But what the
/// parser takes, it understands; so it can refuse what the parser would not survive.
struct TOMLScanner {
  /// Why a walk ended early.
  enum Stop: Error {
    /// The text is no TOML from here on.
    case confused
    /// The text may be TOML, but not one that is read here.
    case refused(TOMLSyntaxProblem)
  }

  static let maximumKeys = 4096
  static let maximumKeyBytes = 256
  static let maximumKeyParts = 16
  static let maximumDepth = 32
  /// Of longer arrays the later elements have the line of the array.
  static let maximumNotedElements = 1024

  let bytes: [UInt8]
  var position = 0
  var line = 1
  var index = TOMLLineIndex()
  private var keys = 0
  /// The path of the table that is open.
  private var base = ""
  /// How many tables each array of tables has so far.
  private var tables: [String: Int] = [:]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The lines of the keys in a text.
  ///
  /// - Throws: what is wrong with a text that must not be parsed.
  static func scan(_ bytes: [UInt8]) throws(TOMLSyntaxProblem) -> TOMLLineIndex {
    var scanner = TOMLScanner(bytes)
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { scanner.position = 3 }
    if let nul = bytes.firstIndex(of: 0) {
      let line = 1 + bytes[..<nul].count { $0 == 0x0A }
      throw TOMLSyntaxProblem(line: line, message: "A NUL character can't stand in a configuration.")
    }
    do throws(Stop) {
      while scanner.peek != nil { try scanner.scanLine() }
    } catch {
      if case .refused(let problem) = error { throw problem }
    }
    return scanner.index
  }

  private mutating func scanLine() throws(Stop) {
    skipBlanks(andLines: true)
    guard let byte = peek else { return }
    if byte == UInt8(ascii: "[") {
      try header()
    } else {
      try keyAndValue(in: base, depth: 0)
    }
    skipBlanks(andLines: false)
    guard peek == nil || peek == 0x0A else { throw .confused }
  }

  private mutating func header() throws(Stop) {
    let start = line
    try expect("[")
    let isArray = take("[")
    let parts = try key()
    try expect("]")
    if isArray { try expect("]") }
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

  /// `key = value` in a table or an inline table.
  mutating func keyAndValue(in table: String, depth: Int) throws(Stop) {
    let start = line
    var path = table
    for part in try key() {
      path = path.appending(key: part)
      index.note(path, line: start)
    }
    try expect("=")
    try value(at: path, depth: depth)
  }

  /// The parts of a key, dotted or not, with the blanks around it.
  private mutating func key() throws(Stop) -> [String] {
    keys += 1
    guard keys <= Self.maximumKeys else { throw refusal("The file has more than \(Self.maximumKeys) keys.") }
    var parts: [String] = []
    repeat {
      skipSpaces()
      parts.append(try keyPart())
      guard parts.count <= Self.maximumKeyParts else {
        throw refusal("A key has more than \(Self.maximumKeyParts) parts.")
      }
      skipSpaces()
    } while take(".")
    return parts
  }

  private mutating func keyPart() throws(Stop) -> String {
    var part: [UInt8] = []
    switch peek {
    case UInt8(ascii: "\""), UInt8(ascii: "'"): part = try string(allowsLines: false)
    default:
      while let byte = peek, Self.isBare(byte) {
        part.append(byte)
        position += 1
      }
      guard !part.isEmpty else { throw .confused }
    }
    guard part.count <= Self.maximumKeyBytes else {
      throw refusal("A key is longer than \(Self.maximumKeyBytes) bytes.")
    }
    return String(decoding: part, as: UTF8.self)
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
