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

/// Text cut to the size of a terminal.
enum ScreenText {
  /// Returns the lines that fit, each cleared to its end, from the top of the screen.
  static func fitted(_ text: String, columns: Int, rows: Int) -> String {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.count > max(1, rows) { lines = lines.prefix(max(1, rows) - 1) + ["…"] }
    return "\u{1B}[H" + lines.map { clipped($0, to: columns) + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  /// Returns a line that has at most `columns` characters; `…` stands for what was cut off. Colours have no width.
  static func clipped(_ line: Substring, to columns: Int) -> String {
    let isTooLong = visibleWidth(of: line) > columns
    let columns = isTooLong ? columns - 1 : columns
    var result = ""
    var width = 0
    var isCommand = false
    for character in line {
      if character == "\u{1B}" {
        isCommand = true
        result.append(character)
      } else if isCommand {
        result.append(character)
        if character == "m" { isCommand = false }
      } else if width < columns {
        result.append(character)
        width += 1
      } else if isTooLong, width == columns {
        result.append("…")
        width += 1
      }
    }
    return result
  }

  private static func visibleWidth(of line: Substring) -> Int {
    var (width, isCommand) = (0, false)
    for character in line {
      if character == "\u{1B}" {
        isCommand = true
      } else if isCommand {
        isCommand = character != "m"
      } else {
        width += 1
      }
    }
    return width
  }
}
