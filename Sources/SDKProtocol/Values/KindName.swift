public import JSONRPC

/// The name of an SDK kind, such as `zendesk.chat`. `daemon.info` lists the kinds.
public struct KindName: Sendable, Hashable, Codable, JSONTextRepresentable, CustomStringConvertible {
  /// The name as text.
  public let name: String

  /// Creates a name without checking it, for names in the source code and in checked files.
  public init(_ name: String) { self.name = name }

  public var description: String { name }

  public init(from decoder: any Decoder) throws { name = try decoder.singleValueContainer().decode(String.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }

  public func write(to writer: inout JSONWriter) { writer.write(string: name) }
}

extension KindName: JSONSchemaRepresentable {
  /// The JSON schema of a kind's name, which accepts any text. The OpenRPC document lists the kinds.
  public static let jsonSchema = JSONSchema.named("KindName", .string(called: "kind, one of daemon.info's kinds"))
}
