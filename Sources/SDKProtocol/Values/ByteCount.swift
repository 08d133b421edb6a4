public import JSONRPC

/// A number of bytes. Decodes from an integer or from text such as `"64KiB"` or `"1MiB"`.
public struct ByteCount: Sendable, Hashable, Comparable {
  /// The number; never negative.
  public let bytes: Int

  /// Creates a number of bytes; `nil` when it is negative.
  public init?(_ bytes: Int) {
    guard bytes >= 0 else { return nil }
    self.bytes = bytes
  }

  /// Returns a number of KiB, for literals in code.
  public static func kibibytes(_ count: UInt32) -> ByteCount { ByteCount(checked: Int(count) * 1024) }

  private init(checked bytes: Int) { self.bytes = bytes }

  /// Parses text such as `64KiB`.
  public init?(text: String) {
    for (suffix, factor) in [("KiB", 1024), ("MiB", 1_048_576), ("B", 1), ("", 1)] where text.hasSuffix(suffix) {
      let digits = text.dropLast(suffix.count)
      guard digits.first?.isNumber == true, let number = Int(digits) else { return nil }
      let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
      guard !overflow else { return nil }
      self.init(bytes)
      return
    }
    return nil
  }

  /// The number as text in the largest unit that leaves no fraction, such as `64KiB`.
  public var text: String {
    for (suffix, shift) in [("GiB", 30), ("MiB", 20), ("KiB", 10)] where bytes > 0 && bytes % (1 << shift) == 0 {
      return "\(bytes >> shift)\(suffix)"
    }
    return "\(bytes)B"
  }

  public static func < (one: ByteCount, other: ByteCount) -> Bool { one.bytes < other.bytes }
}

extension ByteCount: Codable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.oneOf([
    .integer(minimum: 0), .string(pattern: "^[0-9]+(B|KiB|MiB)?$", called: "size, such as 64KiB or 1MiB"),
  ])

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let parsed: ByteCount? =
      if let number = try? container.decode(Int.self) {
        ByteCount(number)
      } else {
        ByteCount(text: try container.decode(String.self))
      }
    guard let parsed else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "A size is a number of bytes or text such as \"64KiB\" or \"1MiB\".")
    }
    self = parsed
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(bytes)
  }
}
