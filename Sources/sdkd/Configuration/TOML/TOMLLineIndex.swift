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
