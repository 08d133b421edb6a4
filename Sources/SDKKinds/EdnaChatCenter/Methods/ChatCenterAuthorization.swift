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

  public init(from decoder: any Decoder) throws {
    if let done = try? ChatCenterAccepted(from: decoder) {
      self = .accepted(operation: done.operation, hints: done.hints ?? [])
    } else {
      self = .user(try User(from: decoder))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .accepted(let operation, let hints):
      let accepted = ChatCenterAccepted(
        accepted: true, operation: operation, hints: hints.isEmpty ? nil : hints)
      try accepted.encode(to: encoder)
    case .user(let user): try user.encode(to: encoder)
    }
  }

  public static let jsonSchema = JSONSchema.oneOf([ChatCenterAccepted.jsonSchema, User.jsonSchema])
}
