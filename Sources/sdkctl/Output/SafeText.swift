/// Text from elsewhere that is shown on a terminal.
enum SafeText {
  /// The text with control characters, and those that turn the direction of writing, as `\uXXXX`: a JSON text
  /// stays the same value.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var safe = ""
    for scalar in text.unicodeScalars {
      guard isUnsafe(scalar) else {
        safe.unicodeScalars.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      safe += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
    return safe
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
