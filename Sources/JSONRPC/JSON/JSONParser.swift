/// The reason why a text is refused, and the position.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// A short description of the problem.
  public let problem: String
  /// The index of the byte at which the problem was found, from 0.
  public let offset: Int
  /// Whether the text breaks a limit of the parser rather than the grammar of JSON.
  public let isBeyondLimits: Bool

  public var description: String { "\(problem) at byte \(offset)" }

  /// The error as the predicate of a sentence whose subject is the text.
  public var predicate: String { isBeyondLimits ? "is refused: \(self)" : "is not valid JSON: \(self)" }
}

/// A strict parser of RFC 8259 JSON over bytes.
///
/// Unlike Foundation's parser it refuses duplicate names, nesting beyond a limit, long runs of combining marks, invalid
/// UTF-8, lone surrogates and text after the value. A byte order mark before the value is skipped.
public struct JSONParser {
  /// The strictness of the parser.
  public enum Leniency: Sendable {
    /// Refuses every text that breaks a rule or limit.
    case strict
    /// Accepts long runs of combining marks. For texts that the caller wrote itself.
    case ownText
    /// Accepts what most JSON parsers accept. For texts of servers, which can contain the words of many users.
    ///
    /// A lone surrogate and bytes that are not UTF-8 become U+FFFD, and a value that nests too deeply becomes `null`.
    /// Combining marks beyond the limit are dropped. Of members with the same name, the last counts.
    case server
  }

  /// The number of levels to which arrays and objects may nest.
  public static let maximumDepth = 32
  /// The largest number of combining marks (scalars of a canonical combining class other than 0) in a row.
  ///
  /// Swift sorts each run by insertion when it compares or hashes text: one long run takes quadratic time. UAX #15
  /// calls 30 a generous limit for text in any language.
  public static let maximumMarks = 128

  let bytes: UnsafeBufferPointer<UInt8>
  let leniency: Leniency
  var position = 0
  var depth = 0

  /// Returns the value that the whole of `bytes` spells.
  ///
  /// - Throws: `JSONSyntaxError`.
  public static func parse(
    _ bytes: some Sequence<UInt8>, _ leniency: Leniency = .strict
  ) throws(JSONSyntaxError) -> JSON {
    try parse(bytes, leniency) { parser throws(JSONSyntaxError) in try parser.value() }
  }

  /// Returns the value that `text` spells.
  public static func parse(_ text: String, _ leniency: Leniency = .strict) throws(JSONSyntaxError) -> JSON {
    try parse(text.utf8, leniency)
  }

  // Inlined: as a generic function it would look up the type of the result, which takes longer than a short text.
  @inline(__always) static func parse<Content>(
    _ bytes: some Sequence<UInt8>, _ leniency: Leniency,
    _ read: (inout JSONParser) throws(JSONSyntaxError) -> Content
  ) throws(JSONSyntaxError) -> Content {
    func result(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<Content, JSONSyntaxError> {
      do throws(JSONSyntaxError) {
        var parser = JSONParser(bytes: bytes, leniency: leniency)
        parser.position = ByteOrderMark.length(in: bytes)
        let content = try read(&parser)
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("text after the value") }
        return .success(content)
      } catch {
        return .failure(error)
      }
    }
    if let result = bytes.withContiguousStorageIfAvailable(result) { return try result.get() }
    return try Array(bytes).withUnsafeBufferPointer(result).get()
  }

  func error(_ problem: String) -> JSONSyntaxError {
    JSONSyntaxError(problem: problem, offset: position, isBeyondLimits: false)
  }

  func refusal(_ problem: String) -> JSONSyntaxError {
    JSONSyntaxError(problem: problem, offset: position, isBeyondLimits: true)
  }

  func occursTwice(_ name: String) -> JSONSyntaxError {
    refusal("the member \(name.clipped(toUTF8: 64).debugDescription) occurs twice")
  }

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skipSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x09, 0x0A, 0x0D: position += 1
      default: return
      }
    }
  }

  mutating func value() throws(JSONSyntaxError) -> JSON {
    skipSpace()
    guard let next else { throw error("the text ends where a value is expected") }
    switch next {
    case UInt8(ascii: "{"): return try nested { parser throws(JSONSyntaxError) in try parser.object() }
    case UInt8(ascii: "["): return try nested { parser throws(JSONSyntaxError) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default:
      if position == 0, ByteOrderMark.isUTF16(bytes) { throw error("the text \(ByteOrderMark.utf16Predicate)") }
      throw error("no JSON value begins here")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSON
  ) throws(JSONSyntaxError) -> JSON {
    guard depth < Self.maximumDepth else {
      guard leniency == .server else { throw refusal("nested deeper than \(Self.maximumDepth)") }
      try skipNested()
      return .null
    }
    depth += 1
    position += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  /// Skips an array or object without recursion. Checks only that its brackets and strings end.
  private mutating func skipNested() throws(JSONSyntaxError) {
    var open = 0
    repeat {
      guard let next else { throw error("an array or object does not end") }
      switch next {
      case UInt8(ascii: "{"), UInt8(ascii: "["): open += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): open -= 1
      case UInt8(ascii: "\""): try skipString()
      default: break
      }
      position += 1
    } while open > 0
  }

  /// Moves from the first quotation mark of a string to its last.
  private mutating func skipString() throws(JSONSyntaxError) {
    position += 1
    while let next, next != UInt8(ascii: "\"") { position += next == UInt8(ascii: "\\") ? 2 : 1 }
    if position >= bytes.count { throw error("a string does not end") }
  }

  private mutating func literal(_ text: StaticString, _ value: JSON) throws(JSONSyntaxError) -> JSON {
    let end = position + text.utf8CodeUnitCount
    guard end <= bytes.count else { throw error("no JSON value begins here") }
    for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] {
      throw error("no JSON value begins here")
    }
    position = end
    return value
  }

  private mutating func array() throws(JSONSyntaxError) -> JSON {
    var elements: [JSON] = []
    skipSpace()
    if next == UInt8(ascii: "]") {
      position += 1
      return .array(elements)
    }
    while true {
      elements.append(try value())
      skipSpace()
      switch next {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "]"):
        position += 1
        return .array(elements)
      default: throw error("a comma or ] is expected")
      }
    }
  }

  private mutating func object() throws(JSONSyntaxError) -> JSON {
    // The members of a request: without room for them the list would grow three times.
    var object = depth == 1 ? JSONObject(reserving: 4) : JSONObject()
    skipSpace()
    if next == UInt8(ascii: "}") {
      position += 1
      return .object(object)
    }
    while true {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error("a member's name is expected") }
      let key = try string()
      let isKnown = object.contains(key)
      if isKnown, leniency != .server { throw occursTwice(key) }
      try colon()
      let value = try value()
      if isKnown { object[key] = value } else { object.append(new: key, value) }
      skipSpace()
      switch next {
      case UInt8(ascii: ","): position += 1
      case UInt8(ascii: "}"):
        position += 1
        return .object(object)
      default: throw error("a comma or } is expected")
      }
    }
  }

  mutating func colon() throws(JSONSyntaxError) {
    skipSpace()
    guard next == UInt8(ascii: ":") else { throw error("a colon is expected") }
    position += 1
  }

  private mutating func digits() throws(JSONSyntaxError) {
    let start = position
    while let byte = next, byte >= 0x30, byte <= 0x39 { position += 1 }
    if position == start { throw error("a digit is expected") }
  }

  private mutating func number() throws(JSONSyntaxError) -> JSONNumber {
    let start = position
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") { position += 1 } else { try digits() }
    if next == UInt8(ascii: ".") {
      position += 1
      try digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      try digits()
    }
    return JSONNumber(checked: String(decoding: bytes[start..<position], as: UTF8.self))
  }
}
