import Foundation

/// Unbuffered standard output, so that its reader receives each line at once.
enum Output {
  static func line(_ text: String) {
    // The sandbox continues when its output is closed.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
  }
}
