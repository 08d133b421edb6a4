/// The bytes of one run, and the ways to read them.
struct Input: Sendable {
  /// All bytes.
  let bytes: [UInt8]

  /// An input.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The bytes as text, with U+FFFD for invalid UTF-8.
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The bytes between lines that hold `%%` alone: for targets that take several texts.
  var parts: [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var start = bytes.startIndex
    for separator in bytes.ranges(of: Array("\n%%\n".utf8)) {
      parts.append(bytes[start..<separator.lowerBound])
      start = separator.upperBound
    }
    return parts + [bytes[start...]]
  }

  /// The lines as texts.
  var lines: [String] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}
