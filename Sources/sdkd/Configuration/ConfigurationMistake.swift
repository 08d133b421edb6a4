/// A mistake in a configuration file, with the details needed to find and correct it.
struct ConfigurationMistake: Error, Sendable, Hashable {
  /// The file as it was opened.
  var file: String
  /// The line, from 1; `nil` when the mistake concerns the file as a whole.
  var line: Int?
  /// The key's dotted path, such as `access.create[0].prefix`; `nil` for none.
  var key: String?
  /// The problem and its correction. Never contains a value, which may be secret.
  var message: String
  /// The valid name nearest to an unknown one.
  var nearest: String?

  init(file: String, line: Int? = nil, key: String? = nil, message: String, nearest: String? = nil) {
    self.file = file
    self.line = line
    self.key = key
    self.message = message
    self.nearest = nearest
  }
}

extension ConfigurationMistake: CustomStringConvertible {
  /// `FILE:LINE: KEY: MESSAGE`, without unknown parts.
  var description: String {
    let place = line.map { "\(file):\($0)" } ?? file
    return [place, key, message].compactMap(\.self).joined(separator: ": ")
  }
}
