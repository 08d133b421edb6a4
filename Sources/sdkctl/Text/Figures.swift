import Glibc
import SDKProtocol

/// Times for people.
enum LocalTime {
  /// Returns a time in the machine's time zone without fractions of a second, such as `2026-11-27 09:42:35`.
  static func text(_ time: Timestamp) -> String {
    var seconds = time_t(time.secondsSince1970.rounded(.down))
    var parts = tm()
    guard localtime_r(&seconds, &parts) != nil else { return time.description }
    func padded(_ value: CInt) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let date = [parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday].map(padded).joined(separator: "-")
    return date + " " + [parts.tm_hour, parts.tm_min, parts.tm_sec].map(padded).joined(separator: ":")
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
