public import JSONRPC

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A moment of wall-clock time; RFC 3339 in UTC with milliseconds on the wire.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Seconds since 1970-01-01T00:00:00Z.
  public let secondsSince1970: Double

  /// The years that RFC 3339 can write.
  private static let range = -62_135_596_800.0...253_402_300_799.0

  /// A moment by its seconds since 1970. One outside the years 1 to 9999 is moved to their end, as RFC 3339 has no
  /// others, so that differences of moments are finite.
  public init(secondsSince1970: Double) {
    self.secondsSince1970 =
      secondsSince1970.isFinite ? min(max(secondsSince1970, Self.range.lowerBound), Self.range.upperBound) : 0
  }

  /// Now, by the machine's clock.
  public static var now: Timestamp { Timestamp(secondsSince1970: Date().timeIntervalSince1970) }

  public static func < (one: Timestamp, other: Timestamp) -> Bool { one.secondsSince1970 < other.secondsSince1970 }
  /// A moment so many seconds later.
  public static func + (one: Timestamp, seconds: Double) -> Timestamp {
    Timestamp(secondsSince1970: one.secondsSince1970 + seconds)
  }
  /// A moment so many seconds earlier.
  public static func - (one: Timestamp, seconds: Double) -> Timestamp { one + -seconds }
  /// The seconds from the second moment to the first.
  public static func - (one: Timestamp, other: Timestamp) -> Double { one.secondsSince1970 - other.secondsSince1970 }
}

extension Timestamp: CustomStringConvertible {
  /// RFC 3339, such as `2026-11-21T11:09:00.250Z`.
  public var description: String {
    // To the nearest: rounding down would lose a millisecond with each reading and writing.
    var milliseconds = Int((secondsSince1970 * 1000).rounded())
    let days = Self.floorDivide(milliseconds, 86_400_000)
    milliseconds -= days * 86_400_000
    let (year, month, day) = Self.civil(days)
    func pad(_ value: Int, _ width: Int = 2) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let seconds = milliseconds / 1000
    return "\(pad(year, 4))-\(pad(month))-\(pad(day))T\(pad(seconds / 3600)):\(pad(seconds / 60 % 60))"
      + ":\(pad(seconds % 60)).\(pad(milliseconds % 1000, 3))Z"
  }

  private static func floorDivide(_ a: Int, _ b: Int) -> Int { a >= 0 ? a / b : -((-a + b - 1) / b) }

  /// Days since 1970 to a date in the Gregorian calendar (Hinnant's algorithm).
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

extension Timestamp: Codable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.string(format: "date-time")

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
}
