import JSONRPC

/// A parsed TOML text, with the line numbers of its keys.
///
/// Implements TOML 1.0. Infinities, not-a-number, dates, times and NUL characters are refused, because no setting has
/// such a value. A byte order mark at the start is skipped.
struct TOMLDocument: Sendable {
  /// The root table; tables become objects.
  let root: JSONObject
  /// The line number of each key.
  let lines: TOMLLineIndex

  /// Parses a text.
  ///
  /// - Throws: the first syntax error.
  init(bytes: [UInt8]) throws(TOMLSyntaxProblem) {
    guard !ByteOrderMark.isUTF16(bytes) else {
      throw TOMLSyntaxProblem(line: 1, message: "The text \(ByteOrderMark.utf16Predicate).")
    }
    if let nul = bytes.firstIndex(of: 0) {
      let line = 1 + bytes[..<nul].count { $0 == 0x0A }
      throw TOMLSyntaxProblem(line: line, message: "A NUL character can't stand in a configuration.")
    }
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw TOMLSyntaxProblem(line: Self.firstBrokenLine(of: bytes), message: "The text is not valid UTF-8.")
    }
    (root, lines) = try TOMLParser.parse(bytes)
  }

  private static func firstBrokenLine(of bytes: [UInt8]) -> Int {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    return 1 + lines.prefix { String(validating: $0, as: UTF8.self) != nil }.count
  }
}

/// The lines of the keys in a TOML text, for messages. Paths are those of schema findings: `access.create[0].prefix`.
struct TOMLLineIndex: Sendable {
  private var lines: [UTF8Key: Int] = [:]

  /// The largest number of entries, which bounds the memory for an unusual text.
  private static let capacity = 16_384

  /// Records the line of a key; only the first call for a path counts.
  mutating func note(_ path: String, line: Int) {
    if lines.count < Self.capacity, !has(path) { lines[UTF8Key(path)] = line }
  }

  /// Records the line of an element of an array. Elements leave half of the entries to keys.
  mutating func note(element path: String, line: Int) {
    if lines.count < Self.capacity / 2 { note(path, line: line) }
  }

  /// Returns whether a key's own line is known.
  func has(_ path: String) -> Bool { lines[UTF8Key(path)] != nil }

  /// Returns the line of a key, or of the nearest table around it, or 1.
  func line(of path: String) -> Int {
    var path = Substring(path)
    while !path.isEmpty {
      if let line = lines[UTF8Key(String(path))] { return line }
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
