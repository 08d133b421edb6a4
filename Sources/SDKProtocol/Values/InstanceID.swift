public import JSONRPC

/// The name of an instance: `[a-z0-9][a-z0-9._-]{0,63}`.
public struct InstanceID: Sendable, Hashable, Comparable {
  /// The name as text.
  public let name: String

  /// Creates an id; `nil` if the name is not a valid one.
  public init?(_ name: String) {
    guard Self.isValid(name) else { return nil }
    self.name = name
  }

  private static func isValid(_ name: String) -> Bool {
    let utf8 = name.utf8
    guard (1...64).contains(utf8.count), let first = utf8.first, isAlphanumeric(first) else { return false }
    return utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2E || $0 == 0x5F || $0 == 0x2D }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
  }

  public static func < (one: InstanceID, other: InstanceID) -> Bool { one.name < other.name }
}

extension InstanceID: CustomStringConvertible {
  public var description: String { name }
}

extension InstanceID: Codable, JSONTextRepresentable, JSONSchemaRepresentable {
  public static let jsonSchema = JSONSchema.named(
    "InstanceID",
    .string(pattern: "^[a-z0-9][a-z0-9._-]{0,63}$", called: "instance id: [a-z0-9][a-z0-9._-]{0,63}"))

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let id = InstanceID(name) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "An instance id has 1 to 64 characters of a-z, 0-9, dot, underscore and hyphen, "
          + "and begins with a letter or digit.")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }

  public func write(to writer: inout JSONWriter) { writer.write(string: name) }
}
