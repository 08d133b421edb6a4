/// A collector of the mistakes in one file, or in the merged settings of several.
final class MistakeLog {
  /// The file.
  let file: String
  /// The lines of its keys; empty until the file is parsed.
  var lines = TOMLLineIndex()
  private var mistakes: [ConfigurationMistake] = []
  /// The mistakes that only `sdkd --check` refuses.
  private(set) var warnings: [ConfigurationMistake] = []
  private var keys: Set<String> = []
  /// The files of merged settings; `nil` for one file.
  private let origins: KeyOrigins?

  /// The largest number of mistakes, for a file that is no configuration at all.
  private static let capacity = 500

  init(file: String) {
    self.file = file
    origins = nil
  }

  /// Creates a log of merged settings. It passes a mistake to the log of the file that the key comes from.
  ///
  /// - Parameter file: the file of mistakes about keys that no file sets.
  init(of origins: KeyOrigins, file: String) {
    self.file = file
    self.origins = origins
  }

  /// Whether there are no mistakes.
  var isEmpty: Bool { mistakes.isEmpty }

  /// Returns whether there is a mistake about this key.
  func has(_ key: String) -> Bool { keys.contains(key) || origins?.origin(of: key)?.log.has(key) == true }

  /// Returns the number of the file that sets a key, counted in the order of merging; `nil` if none does.
  func layer(of key: String) -> Int? { origins?.origin(of: key)?.layer }

  /// Adds a mistake about a key, or about the file as a whole.
  func add(_ key: String?, _ message: String, nearest: String? = nil) {
    if let key, let origin = origins?.origin(of: key) { return origin.log.add(key, message, nearest: nearest) }
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

/// The files that the keys of merged settings come from.
struct KeyOrigins {
  /// The logs of the files, in the order of merging.
  private(set) var logs: [MistakeLog] = []
  /// The number of the file that sets a key, by dotted path.
  private var layers: [String: Int] = [:]

  /// Adds the next file.
  mutating func begin(_ log: MistakeLog) { logs.append(log) }

  /// Records that the last file sets a key.
  mutating func note(_ path: String) { layers[path] = logs.count - 1 }

  /// Returns the file that sets a key, or the value around it; `nil` if none does.
  func origin(of path: String) -> (layer: Int, log: MistakeLog)? {
    var path = Substring(path)
    while !path.isEmpty {
      if let layer = layers[String(path)] { return (layer, logs[layer]) }
      guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { break }
      path = path[..<end]
    }
    return nil
  }
}
