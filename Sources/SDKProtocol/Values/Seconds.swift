public import JSONRPC

/// A duration in seconds. Input may also be text such as `"10s"`, `"5m"`, `"2h"` or `"250ms"`.
public struct Seconds: Sendable, Hashable, Comparable {
  /// The length in seconds: never negative, never infinite.
  public let value: Double

  /// Creates a duration; `nil` if the value is negative, not a number, or longer than a hundred years.
  public init?(_ value: Double) {
    guard value >= 0, value <= 3_155_760_000 else { return nil }
    self.value = value
  }

  /// Creates a duration from a constant in the source code.
  public init(literal value: UInt32) { self.value = Double(value) }

  /// Parses a text such as `10s`, in days (`d`), hours, minutes, seconds or milliseconds; `nil` for other text. A
  /// number without a unit is in seconds.
  public init?(text: String) {
    let units: [(String, Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86_400), ("", 1)]
    for (suffix, factor) in units where text.hasSuffix(suffix) {
      let digits = text.dropLast(suffix.count)
      // `Double` would also accept hexadecimal digits, exponents and signs.
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(digits) else {
        return nil
      }
      self.init(number * factor)
      return
    }
    return nil
  }

  /// Returns a duration as text that this type reads, such as `10m`, in the largest unit that leaves no fraction.
  public static func text(of duration: Duration) -> String {
    let seconds = duration / .seconds(1)
    let units: [(String, Double)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]
    for (suffix, factor) in units {
      if let count = Int(exactly: seconds / factor), count > 0 || factor == 1 { return "\(count)\(suffix)" }
    }
    return "\(seconds)s"
  }

  /// The length as a `Duration`.
  public var duration: Duration { .seconds(value) }

  public static func < (one: Seconds, other: Seconds) -> Bool { one.value < other.value }
}

extension Seconds: Codable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.named(
    "Seconds",
    .oneOf([
      .number,
      .string(
        pattern: "^([0-9]+\\.?[0-9]*|\\.[0-9]+)(ms|s|m|h|d)?$", called: "duration, such as 10s or 5m"),
    ]))

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed: Seconds? =
      if let number = try? container.decode(Double.self) {
        Seconds(number)
      } else {
        Seconds(text: try container.decode(String.self))
      }
    guard let parsed else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A duration is a number of seconds or text such as \"10s\" or \"5m\".")
    }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

/// Durations for people.
package enum Elapsed {
  /// Returns a duration in its two largest units, such as `250 ms`, `42 s`, `5 min`, `3 h 20 min`, `12 d 4 h`.
  package static func text(seconds: Double) -> String {
    guard seconds.isFinite, abs(seconds) < 1e12 else { return "?" }
    if seconds < 0 { return "-" + text(seconds: -seconds) }
    if seconds < 1 { return "\(Int(seconds * 1000)) ms" }
    let whole = Int(seconds)
    func join(_ large: String, _ small: Int, _ unit: String) -> String {
      small == 0 ? large : "\(large) \(small) \(unit)"
    }
    switch whole {
    case ..<60: return "\(whole) s"
    case ..<3600: return join("\(whole / 60) min", whole < 600 ? whole % 60 : 0, "s")
    case ..<86_400: return join("\(whole / 3600) h", whole / 60 % 60, "min")
    default: return join("\(whole / 86_400) d", whole / 3600 % 24, "h")
    }
  }
}
