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

/// Numbers for people: short, and never longer than six characters before the unit.
enum Figure {
  /// Returns a rate or a count, such as `0`, `0.4`, `12`, `1530`.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "?" }
    if abs(value) >= 9.95 { return whole(value) }
    let tenths = (value * 10).rounded()
    if tenths == 0, value > 0 { return "<0.1" }
    let (units, rest) = (
      whole((tenths / 10).rounded(.towardZero)), whole(abs(tenths).truncatingRemainder(dividingBy: 10))
    )
    return rest == "0" ? units : "\(units).\(rest)"
  }

  /// Returns a latency, such as `12 µs`, `1.5 ms`, `2 s`; `-` for none.
  static func latency(_ seconds: Double?) -> String {
    guard let seconds, seconds.isFinite, seconds >= 0 else { return "-" }
    if seconds < 0.001 { return "\(number(seconds * 1_000_000)) µs" }
    if seconds < 1 { return "\(number(seconds * 1000)) ms" }
    return "\(number(seconds)) s"
  }

  /// Returns an amount of memory, such as `34 MiB`.
  static func bytes(_ value: Double) -> String {
    let mebibyte = 1_048_576.0
    return value < mebibyte ? "\(number(value / 1024)) KiB" : "\(number(value / mebibyte)) MiB"
  }

  private static func whole(_ value: Double) -> String { Int64(exactly: value.rounded()).map(String.init) ?? "?" }
}
