import Glibc

/// The output for the user that started the daemon, independent of the log.
enum StandardError {
  /// Writes a line that quotes a file, with U+FFFD in place of control and formatting characters: these could forge
  /// another line, or change a terminal.
  static func write(untrusted line: String) {
    let scalars = line.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
      default: scalar
      }
    }
    write(String(String.UnicodeScalarView(scalars)))
  }

  /// Writes a line.
  static func write(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      written += count
    }
  }
}
