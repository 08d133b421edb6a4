/// The escaping of text of unknown origin for one line of a log.
enum LineText {
  /// Returns the text with control and invisible characters, line breaks and backslashes escaped.
  ///
  /// The text can then neither imitate another line nor hide itself on a terminal.
  static func escaped(_ text: String) -> String {
    var line = ""
    append(text, to: &line, quotes: false)
    return line
  }

  /// Returns the escaped text, in quotation marks if it is empty or has spaces, quotation marks or equals signs.
  static func value(_ text: String) -> String {
    let needsQuotes = text.isEmpty || text.utf8.contains { Self.quoted.contains($0) }
    guard needsQuotes else { return escaped(text) }
    var line = "\""
    append(text, to: &line, quotes: true)
    line.append("\"")
    return line
  }

  /// Returns a key in which `_` replaces everything but ASCII letters, digits, `.` and `-`.
  static func key(_ text: String) -> String {
    let bytes = text.utf8.map { byte in
      let kept: Bool =
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
        default: false
        }
      return kept ? byte : UInt8(ascii: "_")
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let quoted: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "=")]

  /// Whether a byte is a printable character of ASCII that needs no escape.
  private static func isPlain(_ byte: UInt8, quotes: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "\\"): false
    case UInt8(ascii: "\""): !quotes
    default: (0x20..<0x7F).contains(byte)
    }
  }

  private static func append(_ text: String, to line: inout String, quotes: Bool) {
    // Nearly all logged text has nothing to escape, and each scalar takes a hundred instructions below.
    if text.utf8.allSatisfy({ isPlain($0, quotes: quotes) }) { return line.append(text) }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": line.append("\\n")
      case "\r": line.append("\\r")
      case "\t": line.append("\\t")
      case "\\": line.append("\\\\")
      case "\"" where quotes: line.append("\\\"")
      case _ where scalar.isUnsafeInLine: line.append("\\u{\(String(scalar.value, radix: 16))}")
      default: line.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.GeneralCategory {
  /// Whether the category has control characters, or characters that a terminal or log reader could take for a line
  /// break.
  var isControlOrLineBreak: Bool {
    switch self {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension Unicode.Scalar {
  /// Whether the scalar could end a line, move a cursor or change the order of displayed text.
  ///
  /// Such scalars are control characters, line separators and invisible format characters such as bidirectional
  /// overrides.
  var isUnsafeInLine: Bool {
    // Nearly all logged text is printable ASCII: skip the lookup of properties for it.
    if value < 0x7F { return value < 0x20 }
    let category = properties.generalCategory
    return category.isControlOrLineBreak || category == .format
  }
}
