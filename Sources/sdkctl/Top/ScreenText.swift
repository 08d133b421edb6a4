/// Text cut to the size of a terminal.
enum ScreenText {
  /// Returns the lines that fit, each cleared to its end, from the top of the screen.
  static func fitted(_ text: String, columns: Int, rows: Int) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(max(1, rows))
    return "\u{1B}[H" + lines.map { clipped($0, to: columns) + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  /// Returns the first `columns` characters of a line; colours have no width.
  static func clipped(_ line: Substring, to columns: Int) -> String {
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
      }
    }
    return result
  }
}
