public import JSONRPC

/// Authentication settings as a caller gave them. They hold secrets, so they print as `‹settings›`.
public struct GivenSettings: Sendable, Hashable, Codable {
  /// The members.
  public var members: JSONObject

  public init(from decoder: any Decoder) throws { members = try JSON(from: decoder).objectValue ?? JSONObject() }
  public func encode(to encoder: any Encoder) throws { try JSON.object(members).encode(to: encoder) }
}

extension GivenSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "‹settings›" }
  public var debugDescription: String { "‹settings›" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
