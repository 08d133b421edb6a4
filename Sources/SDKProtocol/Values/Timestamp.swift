public import JSONRPC

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A wall-clock time. On the wire it is RFC 3339 text in UTC with milliseconds.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public let secondsSince1970: Double

  /// The years 1 to 9999, in seconds since 1970.
  private static let range = -62_135_596_800.0...253_402_300_799.0

  /// Creates a time from its seconds since 1970. Times are clamped to the years 1 to 9999, because a year has four
  /// digits in RFC 3339. A value that is not finite becomes 1970, so that differences of times are finite.
  public init(secondsSince1970: Double) {
    self.secondsSince1970 =
      secondsSince1970.isFinite ? min(max(secondsSince1970, Self.range.lowerBound), Self.range.upperBound) : 0
  }

  /// The current time by the machine's clock.
  public static var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

  public static func < (one: Timestamp, other: Timestamp) -> Bool { one.secondsSince1970 < other.secondsSince1970 }
  /// Returns the time `seconds` later.
  public static func + (one: Timestamp, seconds: Double) -> Timestamp {
    Timestamp(secondsSince1970: one.secondsSince1970 + seconds)
  }
  /// Returns the time `seconds` earlier.
  public static func - (one: Timestamp, seconds: Double) -> Timestamp { one + -seconds }
  /// Returns the seconds from `other` to `one`.
  public static func - (one: Timestamp, other: Timestamp) -> Double { one.secondsSince1970 - other.secondsSince1970 }
}

extension Timestamp: CustomStringConvertible {
  /// The time as RFC 3339 text, such as `2026-11-21T11:09:00.250Z`.
  public var description: String {
    withJSONText { String(decoding: UnsafeBufferPointer(rebasing: $0.dropFirst().dropLast()), as: UTF8.self) }
  }

  /// Calls `body` with the text as JSON, without an allocation.
  private func withJSONText<R>(_ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
    // Rounds to the nearest millisecond. Rounding down could lose a millisecond with each parse and print.
    var milliseconds = Int((secondsSince1970 * 1000).rounded())
    let days = Self.floorDivide(milliseconds, 86_400_000)
    milliseconds -= days * 86_400_000
    let (year, month, day) = Self.civil(days)
    let seconds = milliseconds / 1000
    var text = InlineArray<26, UInt8>(repeating: UInt8(ascii: "\""))
    var end = 1
    func append(_ value: Int, digits: Int, then separator: Unicode.Scalar) {
      var rest = value
      for index in (end..<end + digits).reversed() {
        text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      end += digits
      text[end] = UInt8(ascii: separator)
      end += 1
    }
    append(year, digits: 4, then: "-")
    append(month, digits: 2, then: "-")
    append(day, digits: 2, then: "T")
    append(seconds / 3600, digits: 2, then: ":")
    append(seconds / 60 % 60, digits: 2, then: ":")
    append(seconds % 60, digits: 2, then: ".")
    append(milliseconds % 1000, digits: 3, then: "Z")
    return text.span.withUnsafeBufferPointer(body)
  }

  private static func floorDivide(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((-a + b - 1) / b) }

  /// Returns the Gregorian date of a number of days since 1970-01-01 (Hinnant's algorithm).
  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719_468
    let era = floorDivide(z, 146_097)
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}

extension Timestamp: Codable, JSONTextRepresentable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.named("Timestamp", .string(format: "date-time"))

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let time = Timestamp(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "A time is RFC 3339 text.")
    }
    self = time
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }

  public func write(to writer: inout JSONWriter) {
    withJSONText { writer.write(raw: $0) }
  }
}
