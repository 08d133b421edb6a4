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
