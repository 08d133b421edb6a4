/// Collects the mistakes of one file.
final class MistakeLog {
  /// The file.
  let file: String
  /// Where its keys stand, once it is parsed.
  var lines = TOMLLineIndex()
  private var mistakes: [ConfigurationMistake] = []
  private var keys: Set<String> = []

  /// More than anyone reads; a bound for a file that is no configuration at all.
  private static let capacity = 500

  init(file: String) { self.file = file }

  /// True without mistakes.
  var isEmpty: Bool { mistakes.isEmpty }

  /// Whether there is one about this key.
  func has(_ key: String) -> Bool { keys.contains(key) }

  /// Adds a mistake about a key, or about the file as a whole.
  func add(_ key: String?, _ message: String, nearest: String? = nil) {
    append(ConfigurationMistake(file: file, line: key.map(lines.line), key: key, message: message, nearest: nearest))
  }

  /// Adds a mistake about a line.
  func add(line: Int, _ message: String) {
    append(ConfigurationMistake(file: file, line: line, message: message))
  }

  /// Adds what is wrong with a value's shape, unless its key is known to be wrong.
  func add(_ findings: [SchemaFinding]) {
    for finding in findings where !has(finding.path) { add(finding.path, finding.message, nearest: finding.nearest) }
  }

  private func append(_ mistake: ConfigurationMistake) {
    if let key = mistake.key { keys.insert(key) }
    if mistakes.count < Self.capacity { mistakes.append(mistake) }
  }

  /// The mistakes by line, those of one line as they were found.
  var sorted: [ConfigurationMistake] {
    mistakes.enumerated().sorted {
      ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
    }.map(\.element)
  }
}
