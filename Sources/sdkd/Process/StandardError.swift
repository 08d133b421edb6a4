import Glibc

/// The output for the user that started the daemon, independent of the log.
enum StandardError {
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
