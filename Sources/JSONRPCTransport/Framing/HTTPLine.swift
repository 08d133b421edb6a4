/// A detector of HTTP request lines, which a browser can be made to send to any socket that it reaches.
enum HTTPLine {
  private static let methods = ["GET", "POST", "HEAD", "PUT", "OPTIONS", "DELETE", "PATCH", "CONNECT", "TRACE", "PRI"]

  /// Whether the line is `METHOD target HTTP/version`.
  static func matches(_ line: some Collection<UInt8>) -> Bool {
    guard let space = line.prefix(16).firstIndex(of: UInt8(ascii: " ")),
      methods.contains(String(decoding: line[..<space], as: UTF8.self)),
      let last = line.split(separator: UInt8(ascii: " ")).last
    else { return false }
    return last.starts(with: "HTTP/".utf8)
  }
}
