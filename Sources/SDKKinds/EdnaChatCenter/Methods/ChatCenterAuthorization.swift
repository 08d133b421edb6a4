public import JSONRPC
public import SDKProtocol

/// Custom authorization, as agreed with the vendor.
public struct ChatCenterAuth: RPCValue, Hashable {
  let auth: EdnaAuth

  public init(from decoder: any Decoder) throws { auth = try EdnaAuth(from: decoder) }
  public func encode(to encoder: any Encoder) throws { try auth.encode(to: encoder) }

  public static let jsonSchema = EdnaAuth.jsonSchema
}

/// The result of `chatCenter.authorize`: the accepted operation, or with `wait` the user.
public enum ChatCenterAuthorization: RPCValue {
  case accepted(operation: String, hints: [String])
  case user(User)

  private struct Accepted: Codable {
    var accepted: Bool
    var operation: String
    var hints: [String]?
  }

  public init(from decoder: any Decoder) throws {
    if let done = try? Accepted(from: decoder) {
      self = .accepted(operation: done.operation, hints: done.hints ?? [])
    } else {
      self = .user(try User(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .accepted(let operation, let hints):
      try Accepted(accepted: true, operation: operation, hints: hints.isEmpty ? nil : hints).encode(to: encoder)
    case .user(let user): try user.encode(to: encoder)
    }
  }

  public static let jsonSchema = JSONSchema.oneOf([
    .named(
      "ChatCenterAccepted",
      .object([
        .required("accepted", .boolean, "true"),
        .required("operation", .string(), "the operation that the event of the outcome names"),
        .optional("hints", .array(.string()), "what may be amiss with the identifier"),
      ])),
    User.jsonSchema,
  ])
}
