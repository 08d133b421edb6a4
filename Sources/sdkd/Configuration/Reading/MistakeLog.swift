/// A collector of the mistakes in one file.
final class MistakeLog {
  /// The file.
  let file: String
  /// The lines of its keys; empty until the file is parsed.
  var lines = TOMLLineIndex()
  private var mistakes: [ConfigurationMistake] = []
  /// The mistakes that only `sdkd --check` refuses.
  private(set) var warnings: [ConfigurationMistake] = []
  private var keys: Set<String> = []

  /// The largest number of mistakes, for a file that is no configuration at all.
  private static let capacity = 500

  init(file: String) { self.file = file }

  /// Whether there are no mistakes.
  var isEmpty: Bool { mistakes.isEmpty }

  /// Returns whether there is a mistake about this key.
  func has(_ key: String) -> Bool { keys.contains(key) }

  /// Adds a mistake about a key, or about the file as a whole.
  func add(_ key: String?, _ message: String, nearest: String? = nil) {
    append(ConfigurationMistake(file: file, line: key.map(lines.line), key: key, message: message, nearest: nearest))
  }

  /// Adds a mistake about a key that only `sdkd --check` refuses.
  func warn(_ key: String, _ message: String) {
    guard warnings.count < Self.capacity else { return }
    warnings.append(ConfigurationMistake(file: file, line: lines.line(of: key), key: key, message: message))
  }

  /// Adds a mistake about a line.
  func add(line: Int, _ message: String) {
    append(ConfigurationMistake(file: file, line: line, message: message))
  }

  /// Adds the findings about a value's shape, except for keys that already have a mistake.
  func add(_ findings: [SchemaFinding]) {
    for finding in findings where !has(finding.path) { add(finding.path, finding.message, nearest: finding.nearest) }
  }

  private func append(_ mistake: ConfigurationMistake) {
    if let key = mistake.key { keys.insert(key) }
    if mistakes.count < Self.capacity { mistakes.append(mistake) }
  }

  /// The mistakes by line, those of one line in the order in which they were found.
  var sorted: [ConfigurationMistake] {
    mistakes.enumerated().sorted {
      ($0.element.line ?? 0, $0.offset) < ($1.element.line ?? 0, $1.offset)
    }.map(\.element)
  }
}
