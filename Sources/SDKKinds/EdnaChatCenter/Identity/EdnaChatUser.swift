public import JSONRPC
public import SDKProtocol

/// The user to authorise: the SDK's `ChatUser`.
public struct EdnaChatUser: RPCValue, Hashable {
  /// The user's unique, persistent id. It is hard to guess and kept as a secret.
  public var identifier: Secret
  /// The name that operators see.
  public var name: String?
  /// Attributes for operators and routing.
  public var data: [String: String]?

  public static let jsonSchema = JSONSchema.named(
    "ChatUser",
    .object([
      .required("identifier", .string(), "the user's unique, persistent id, hard to guess: a secret"),
      .optional("name", .string(), "the name that operators see"),
      .optional("data", .map(.string()), "attributes for operators and routing"),
    ]))

  /// Checks the sizes of name and attributes. `EdnaIdentifier` checks the identifier.
  func check() throws(RPCError) {
    if let name, !TextLimits.isName(name) {
      throw .invalidParams("The member user.name may have at most \(TextLimits.name) bytes.", member: "user.name")
    }
    if let data { try EdnaChatUser.check(data, member: "user.data") }
  }

  /// Checks that attributes have at most 16384 bytes as JSON, so that they fit into one reply.
  static func check(_ data: [String: String], member: String) throws(RPCError) {
    guard JSONWriter.bytes(of: EdnaState.attributes(data)).count <= 16_384 else {
      throw .invalidParams("The member \(member) may have at most 16384 bytes as JSON.", member: member)
    }
  }
}
