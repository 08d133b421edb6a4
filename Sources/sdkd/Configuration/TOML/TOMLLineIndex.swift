/// Where the keys of a TOML text stand, for messages. Paths are those of schema findings: `access.create[0].prefix`.
struct TOMLLineIndex: Sendable {
  private var lines: [String: Int] = [:]

  /// Bounds what an odd text can make of it.
  private static let capacity = 16_384

  /// Notes where a key stands; the first time counts.
  mutating func note(_ path: String, line: Int) {
    if lines[path] == nil, lines.count < Self.capacity { lines[path] = line }
  }

  /// Whether a key's own line is known.
  func has(_ path: String) -> Bool { lines[path] != nil }

  /// The line of a key, else that of the nearest table around it, else 1.
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
