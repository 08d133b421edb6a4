/// Untrusted text, made safe for a terminal.
enum SafeText {
  /// Returns the text with `\uXXXX` for control characters, invisible characters, and those that change the direction
  /// of writing. JSON text keeps its value.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
      guard isUnsafe(scalar) else {
        safe.unicodeScalars.append(scalar)
        continue
      }
      for unit in scalar.utf16 {
        let digits = String(unit, radix: 16)
        safe += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return safe
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    // A fast path for ASCII, without a lookup in Unicode's tables.
    if (0x20..<0x7F).contains(scalar.value) { return false }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: return true
    default: return false
    }
  }
}
