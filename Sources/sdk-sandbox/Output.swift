import Foundation

/// Standard output without a buffer: whoever waits for a line gets it at once.
enum Output {
  static func line(_ text: String) {
    // A closed pipe is no reason for the sandbox to end.
    try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
  }
}
